import { t } from "@/i18n/en/ways";

const WAYS = ["pinned", "alias", "words", "meaning", "neighbour", "session", "speaker", "person"] as const;

/** How something was found in memory, in words; a newer daemon's way stays its own word. */
export function wayWord(way: string): string {
  const known = WAYS.find((one) => one === way);
  return known ? t(known) : way;
}
