import { Unbuilt } from "@/app/Unbuilt";

export function SessionsPage() {
  return <Unbuilt />;
}
