import { Unbuilt } from "@/app/Unbuilt";

export function QuarantinePage() {
  return <Unbuilt />;
}
