import { Unbuilt } from "@/app/Unbuilt";

export function NewSessionPage() {
  return <Unbuilt />;
}
