import { Unbuilt } from "@/app/Unbuilt";

export function SessionPage() {
  return <Unbuilt />;
}
