import { Unbuilt } from "@/app/Unbuilt";

export function EgressPage() {
  return <Unbuilt />;
}
