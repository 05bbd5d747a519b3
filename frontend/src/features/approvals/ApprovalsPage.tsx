import { Unbuilt } from "@/app/Unbuilt";

export function ApprovalsPage() {
  return <Unbuilt />;
}
