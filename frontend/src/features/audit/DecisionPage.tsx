import { Unbuilt } from "@/app/Unbuilt";

export function DecisionPage() {
  return <Unbuilt />;
}
