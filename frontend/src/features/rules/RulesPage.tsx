import { Unbuilt } from "@/app/Unbuilt";

export function RulesPage() {
  return <Unbuilt />;
}
