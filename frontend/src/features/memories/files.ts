/** Memories as files, for people and for programs. */
import { t } from "@/i18n/en/memories";
import { KINDS, type Memory } from "./words";

/** One a line, by kind; what is pinned first. A memory's own line feeds would begin another one. */
export function toMarkdown(memories: readonly Memory[]): string {
  const parts = KINDS.flatMap((kind) => {
    const some = memories.filter((memory) => memory.kind === kind);
    if (some.length === 0) return [];
    const lines = [...some]
      .sort((one, other) => Number(other.pinned) - Number(one.pinned))
      .map((memory) => `- ${memory.text.replaceAll(/\s+/g, " ")}\n`);
    return [`## ${t(kind)}\n\n${lines.join("")}`];
  });
  return `# ${t("title")}\n\n${parts.join("\n")}`;
}

/** As the daemon has them, one a line. */
export function toJsonLines(memories: readonly Memory[]): string {
  return memories.map((memory) => `${JSON.stringify(memory)}\n`).join("");
}
