import type { Schema } from "@/api/client";
import { SafeText } from "@/ui/SafeText";
import { previewOf } from "./preview";
import { argumentsOf, sentence } from "./words";

/** A question in one line of a list: its command, path or address, however long, else its sentence. */
export function Title({ row }: { row: Pick<Schema["ApprovalRow"], "tool" | "arguments" | "directory"> }) {
  const title = lineOf(row);
  return title ? (
    <SafeText mono className="text-sm [font-variant-ligatures:none]">
      {title}
    </SafeText>
  ) : (
    <SafeText>{sentence(row)}</SafeText>
  );
}

export function lineOf(row: Pick<Schema["ApprovalRow"], "tool" | "arguments">): string {
  const { title } = previewOf(row.tool, row.arguments);
  if (title) return title;
  const command = argumentsOf(row.arguments).find(({ name }) => name === "command");
  return command?.value.trim().split("\n")[0]?.slice(0, 200) ?? "";
}
