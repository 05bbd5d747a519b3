import { Unbuilt } from "@/app/Unbuilt";

export function SettingsPage() {
  return <Unbuilt />;
}
