/** The page in German. Each file has the texts of the English one of its name. */
import type { Messages } from "@/i18n";

const files = import.meta.glob<Messages>(["./*.ts", "!./index.ts"], { eager: true, import: "default" });

/** Each text by its part and key: `sessions.turns`. */
export default Object.fromEntries(
  Object.entries(files).flatMap(([file, texts]) =>
    Object.entries(texts).map(([key, text]) => [`${file.slice(2, -3)}.${key}`, text]),
  ),
);
