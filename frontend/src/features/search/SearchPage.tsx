import { Unbuilt } from "@/app/Unbuilt";

export function SearchPage() {
  return <Unbuilt />;
}
