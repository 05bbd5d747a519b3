import { Unbuilt } from "@/app/Unbuilt";

export function ObjectivePage() {
  return <Unbuilt />;
}
