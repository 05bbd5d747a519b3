import { Unbuilt } from "@/app/Unbuilt";

export function DashboardPage() {
  return <Unbuilt />;
}
