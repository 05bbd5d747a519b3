import { Unbuilt } from "@/app/Unbuilt";

export function NewObjectivePage() {
  return <Unbuilt />;
}
