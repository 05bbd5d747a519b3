import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/rules";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Dialog } from "@/ui/Dialog";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { PageHead } from "@/ui/PageHead";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { Autonomy } from "./Autonomy";
import { Grants } from "./Grants";
import { MakeRule } from "./MakeRule";
import { Profiles } from "./Profiles";
import { Tools } from "./Tools";
import { DECISIONS, type Rule, understood } from "./words";

const COLUMNS: readonly Column<Rule>[] = [
  { id: "rule", header: t("rule"), value: (row) => row.text || t("noText") },
  {
    id: "verdict",
    header: t("verdict"),
    value: (row) => row.decision,
    cell: (row) => <State kind={DECISIONS[row.decision]}>{t(row.decision)}</State>,
    facet: { words: (verdict) => t(verdict === "deny" || verdict === "ask" ? verdict : "allow") },
    width: 120,
  },
  { id: "understood", header: t("understood"), value: understood },
  {
    id: "confirmed",
    header: t("confirmed"),
    value: (row) => (row.confirmed ? "" : t("unconfirmed")),
    width: 140,
  },
  {
    id: "where",
    header: t("where"),
    value: (row) => row.directory || t("everywhere"),
    cell: (row) =>
      row.directory ? <SafeText mono>{row.directory}</SafeText> : <span className="text-ink-2">{t("everywhere")}</span>,
    width: 220,
  },
];

export function RulesPage() {
  const rules = useQuery({ queryKey: ["rules"], queryFn: () => data(api.GET("/rules")) });
  const [ending, setEnding] = useState<Rule | null>(null);
  return (
    <div className="grid max-w-300 gap-10 p-4 md:p-6">
      <div className="grid gap-5">
        <PageHead title={t("rules")} description={t("about")} />
        <MakeRule />
        <DataTable
          name={t("table")}
          columns={COLUMNS}
          rows={rules.data?.items}
          rowId={(row) => row.id}
          error={rules.error}
          onOpen={setEnding}
          exportAs="stead-rules"
          empty={<Empty title={t("none")}>{t("noneWhy")}</Empty>}
        />
      </div>
      <Tools rules={rules.data?.items ?? []} />
      <Grants />
      <Autonomy />
      <Profiles />
      {ending && <RemoveRule rule={ending} onClose={() => setEnding(null)} />}
    </div>
  );
}

function RemoveRule({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const [changing, setChanging] = useState(false);
  const remove = useCommand((id: string, key) =>
    data(api.DELETE("/rules/{id}", { params: { path: { id }, ...withKey(key) } })),
  );
  const confirm = useCommand((id: string, key) =>
    data(api.POST("/rules/{id}/confirm", { params: { path: { id }, ...withKey(key) } })),
  );
  const settled = async () => {
    await queries.invalidateQueries({ queryKey: ["rules"] });
    onClose();
  };
  if (changing) {
    return (
      <Dialog open onOpenChange={(open) => !open && onClose()} size="lg" title={t("edit")}>
        <MakeRule replaced={rule} made={onClose} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      size="sm"
      title={t("removeTitle")}
      description={t("removeWhy")}
      kind="destroy"
      busy={remove.isPending && `${t("removing")}…`}
      onYes={() => remove.mutate(rule.id, { onSuccess: settled })}
      yes={t("remove")}
      more={
        <>
          <Button onClick={() => setChanging(true)}>{t("edit")}</Button>
          {!rule.confirmed && (
            <Button
              kind="primary"
              busy={confirm.isPending && t("making")}
              onClick={() => confirm.mutate(rule.id, { onSuccess: settled })}
            >
              {t("confirmRule")}
            </Button>
          )}
        </>
      }
    >
      <p className="font-medium">
        <SafeText>{rule.text || t("noText")}</SafeText>
      </p>
      <p className="mt-1 text-ink-2">
        <State kind={DECISIONS[rule.decision]}>{t(rule.decision)}</State> <SafeText>{understood(rule)}</SafeText>
      </p>
      {rule.expires_at_ms > 0 && (
        <p className="mt-1 text-ink-2 text-sm">
          {t("until")} <Time at={rule.expires_at_ms} ahead />
        </p>
      )}
      {(remove.error ?? confirm.error) && <ErrorNote error={remove.error ?? confirm.error} />}
    </ConfirmDialog>
  );
}
