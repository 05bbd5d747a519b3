import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/secrets";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";

export type Secret = Schema["SecretRow"];
export type Binding = Secret["bindings"][number];

/** A binding in words. */
export function bindingWords(binding: Binding): string {
  if (binding.type === "tool") return t("toolBinding", { tool: binding.tool, argument: binding.argument });
  const place = `${binding.tls ? "https" : "http"}://${binding.host}${binding.path === "/" ? "" : binding.path}`;
  return t("hostBinding", { method: binding.methods.join(", ") || t("all"), place, part: binding.place });
}

/** What a binding is ended by. */
export function destinationOf(binding: Binding): string {
  return binding.type === "host" ? binding.host : binding.tool;
}

export const COLUMNS: readonly Column<Secret>[] = [
  { id: "name", header: t("name"), value: (row) => row.name, width: 180 },
  {
    id: "placeholder",
    header: t("placeholder"),
    value: (row) => row.placeholder,
    cell: (row) => <SafeText mono>{row.placeholder}</SafeText>,
    width: 300,
  },
  {
    id: "bound",
    header: t("boundTo"),
    value: (row) => row.bindings.map(bindingWords).join("; ") || t("goesNowhere"),
    cell: (row) => {
      const [first, ...others] = row.bindings;
      if (!first) return <span className="text-ink-2">{t("goesNowhere")}</span>;
      return (
        <SafeText>{others.length > 0 ? t("bindings", { count: row.bindings.length }) : bindingWords(first)}</SafeText>
      );
    },
  },
  {
    id: "used",
    header: t("lastUsed"),
    value: (row) => row.used_ms || null,
    cell: (row) => (row.used_ms ? <Time at={row.used_ms} /> : <span className="text-ink-2">{t("never")}</span>),
    width: 130,
  },
  { id: "usedAt", header: t("usedAt"), value: (row) => row.used_at || null, width: 180 },
  {
    id: "added",
    header: t("added"),
    value: (row) => row.added_ms,
    cell: (row) => <Time at={row.added_ms} />,
    hidden: true,
    width: 150,
  },
];
