/** What each tool may do: its level, the rules that name it, and a form to set that. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/rules";
import { Dialog } from "@/ui/Dialog";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { MakeRule, NEW_RULE } from "./MakeRule";
import { DECISIONS, type Rule, understood } from "./words";

type Tool = Schema["ToolRow"];
const ASKED = { auto: "askedNever", session: "askedOnce", each: "askedEach", confirm: "askedShown" } as const;

/** `rules`: those that hold, to say which speak of a tool. */
export function Tools({ rules }: { rules: readonly Rule[] }) {
  const tools = useQuery({ queryKey: ["rules", "tools"], queryFn: () => data(api.GET("/rules/tools")) });
  const [setting, setSetting] = useState<Tool | null>(null);
  const naming = (tool: Tool) => rules.filter(({ id }) => tool.rules.includes(id));
  const columns: readonly Column<Tool>[] = [
    {
      id: "tool",
      header: t("tool"),
      value: (row) => row.name,
      cell: (row) => <SafeText mono>{row.name}</SafeText>,
      width: 160,
    },
    { id: "without", header: t("withoutRule"), value: asked, width: 220 },
    {
      id: "decision",
      header: t("byRule"),
      value: (row) => row.decision,
      cell: (row) => (decided(row) ? <State kind={DECISIONS[decided(row)]}>{t(decided(row))}</State> : null),
      width: 120,
    },
    { id: "rules", header: t("itsRules"), value: (row) => naming(row).map(said).join(" · ") },
  ];
  return (
    <Panel title={t("perTool")} description={t("perToolAbout")}>
      <DataTable
        name={t("perToolTable")}
        long
        columns={columns}
        rows={tools.data?.items}
        rowId={(row) => row.name}
        error={tools.error}
        onOpen={setSetting}
        empty={null}
      />
      {setting && (
        <Dialog
          open
          onOpenChange={(open) => !open && setSetting(null)}
          size="lg"
          title={t("perToolSet", { tool: setting.name })}
          description={t("perToolHow")}
        >
          {naming(setting).length > 0 && (
            <ul className="mb-3 grid gap-1 text-sm">
              {naming(setting).map((rule) => (
                <li key={rule.id}>
                  <SafeText>{said(rule)}</SafeText>
                </li>
              ))}
            </ul>
          )}
          <MakeRule replaced={{ ...NEW_RULE, tools: [setting.name] }} made={() => setSetting(null)} />
        </Dialog>
      )}
    </Panel>
  );
}

function asked({ level }: Tool): string {
  return level in ASKED ? t(ASKED[level as keyof typeof ASKED]) : level;
}

function decided({ decision }: Tool): Rule["decision"] {
  return decision as Rule["decision"];
}

function said(rule: Rule): string {
  return `${t(rule.decision)}: ${understood(rule)}`;
}
