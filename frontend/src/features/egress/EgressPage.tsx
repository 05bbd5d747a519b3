import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/egress";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { PageHead } from "@/ui/PageHead";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { AllowDialog } from "./AllowDialog";
import { DisallowDialog } from "./DisallowDialog";
import { Recent } from "./Recent";

type Allowed = Schema["AllowedRow"];

const COLUMNS: readonly Column<Allowed>[] = [
  {
    id: "host",
    header: t("host"),
    value: (row) => [...new Set([row.host, ...row.hosts])].join(" "),
    cell: (row) =>
      row.host === "registries" ? (
        <>
          {t(row.grants_last ? "registriesLasting" : "registries")}: <SafeText mono>{row.hosts.join(", ")}</SafeText>
        </>
      ) : (
        <SafeText mono>{row.host}</SafeText>
      ),
  },
  {
    id: "folder",
    header: t("folder"),
    value: (row) => row.directory,
    cell: (row) => <SafeText mono>{row.directory}</SafeText>,
    facet: {},
  },
];

export function EgressPage() {
  const hosts = useQuery({ queryKey: ["egress", "hosts"], queryFn: () => data(api.GET("/egress/hosts")) });
  const [allowing, setAllowing] = useState(false);
  const [ending, setEnding] = useState<Allowed | null>(null);
  const rows = hosts.data?.items;
  const allow = (
    <Button kind="primary" icon="plus" onClick={() => setAllowing(true)}>
      {t("allow")}
    </Button>
  );
  return (
    <div className="grid max-w-300 gap-8 p-4 md:p-6">
      <div>
        <PageHead title={t("egress")} description={t("about")} actions={rows?.length !== 0 && allow} />
        <Panel title={t("hosts")}>
          <DataTable
            name={t("table")}
            columns={COLUMNS}
            rows={rows}
            rowId={(row) => `${row.directory}\n${row.host}`}
            error={hosts.error}
            onOpen={setEnding}
            sort={{ id: "folder", desc: false }}
            exportAs="stead-allowed-hosts"
            actions={(chosen) =>
              chosen[0] && (
                <Button
                  size="sm"
                  kind="danger"
                  disabled={chosen.length !== 1}
                  onClick={() => setEnding(chosen[0] ?? null)}
                >
                  {t("remove")}
                </Button>
              )
            }
            empty={
              <Empty title={t("none")} action={allow}>
                {t("noneWhy")}
              </Empty>
            }
          />
        </Panel>
      </div>
      <Recent />
      {allowing && <AllowDialog onClose={() => setAllowing(false)} />}
      {ending && <DisallowDialog row={ending} onClose={() => setEnding(null)} />}
    </div>
  );
}
