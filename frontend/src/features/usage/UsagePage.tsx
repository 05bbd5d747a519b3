import { Unbuilt } from "@/app/Unbuilt";

export function UsagePage() {
  return <Unbuilt />;
}
