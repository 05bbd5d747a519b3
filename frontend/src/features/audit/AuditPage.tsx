import { Unbuilt } from "@/app/Unbuilt";

export function AuditPage() {
  return <Unbuilt />;
}
