import { Unbuilt } from "@/app/Unbuilt";

export function SecretsPage() {
  return <Unbuilt />;
}
