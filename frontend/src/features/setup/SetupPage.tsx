import { Unbuilt } from "@/app/Unbuilt";

export function SetupPage() {
  return <Unbuilt />;
}
