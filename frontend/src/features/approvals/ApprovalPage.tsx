import { Unbuilt } from "@/app/Unbuilt";

export function ApprovalPage() {
  return <Unbuilt />;
}
