import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/rules";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { type Grant, grantsInForce, workIn } from "./grants";

const COLUMNS: readonly Column<Grant>[] = [
  { id: "tool", header: t("tool"), value: (row) => row.made.tool, width: 120 },
  {
    id: "shape",
    header: t("shape"),
    value: (row) => row.made.shape || t("anyShape"),
    cell: (row) => (row.made.shape ? <SafeText mono>{row.made.shape}</SafeText> : t("anyShape")),
  },
  {
    id: "folder",
    header: t("folder"),
    value: (row) => row.made.directory,
    cell: (row) => <SafeText mono>{row.made.directory}</SafeText>,
    width: 240,
  },
  {
    id: "sources",
    header: t("sources"),
    value: (row) => row.made.sources.join(", ") || null,
    hidden: true,
    width: 180,
  },
  { id: "given", header: t("given"), value: (row) => row.at, cell: (row) => <Time at={row.at} />, width: 130 },
  {
    id: "until",
    header: t("until"),
    value: (row) => row.made.expires_at_ms,
    cell: (row) => <Time at={row.made.expires_at_ms} ahead />,
    width: 130,
  },
  { id: "by", header: t("by"), value: (row) => row.made.door, hidden: true, width: 90 },
];

export function Grants() {
  const grants = useQuery({ queryKey: ["rules", "grants"], queryFn: grantsInForce });
  const [ending, setEnding] = useState<Grant | null>(null);
  return (
    <Panel title={t("grants")} description={t("grantsAbout")}>
      <DataTable
        name={t("grantsTable")}
        columns={COLUMNS}
        rows={grants.data}
        rowId={(row) => String(row.seq)}
        error={grants.error}
        onOpen={setEnding}
        exportAs="stead-leave"
        empty={<Empty title={t("grantsNone")}>{t("grantsNoneWhy")}</Empty>}
      />
      {ending && <TakeBack grant={ending} onClose={() => setEnding(null)} />}
    </Panel>
  );
}

function TakeBack({ grant: { made }, onClose }: { grant: Grant; onClose: () => void }) {
  const revoke = useCommand(async (tool: string, key) => {
    const work = await workIn(made.directory);
    if (!work) throw new Error(t("grantStuck"));
    const params = { path: { session: work.id }, ...withKey(key) };
    return data(api.POST("/sessions/{session}/revoke", { params, body: { tool } }));
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      size="sm"
      title={t("grantTitle", { tool: made.tool })}
      description={t("grantWhy", { folder: made.directory })}
      kind="danger"
      busy={revoke.isPending && `${t("removing")}…`}
      onYes={() =>
        revoke.mutate(made.tool, {
          onSuccess: async () => {
            await queries.invalidateQueries({ queryKey: ["rules"] });
            onClose();
          },
        })
      }
      yes={t("takeBack")}
    >
      {made.shape && (
        <p>
          <SafeText mono>{made.shape}</SafeText>
        </p>
      )}
      <ErrorNote error={revoke.error} />
    </ConfirmDialog>
  );
}
