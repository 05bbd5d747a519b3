import { Unbuilt } from "@/app/Unbuilt";

export function ObjectivesPage() {
  return <Unbuilt />;
}
