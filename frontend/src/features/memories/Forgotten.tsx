/** Forgetting words wherever they stand, and the proof of what was forgotten. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/forgetting";
import { CopyButton } from "@/ui/CopyButton";
import { Dialog } from "@/ui/Dialog";
import { Empty } from "@/ui/Empty";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { ForgetWords } from "./ForgetWords";

type Row = Schema["ForgetReceiptRow"];

const COLUMNS: readonly Column<Row>[] = [
  { id: "when", header: t("when"), value: (row) => row.ended_ms, cell: (row) => <Time at={row.ended_ms} /> },
  {
    id: "found",
    header: t("found"),
    value: (row) => row.receipt.left.length,
    cell: ({ receipt: { left } }) => (
      <State kind={left.length > 0 ? "danger" : "good"}>
        {left.length > 0 ? t("left", { count: left.length }) : t("clean")}
      </State>
    ),
    width: 180,
  },
  { id: "memories", header: t("countMemories"), numeric: true, value: (row) => row.receipt.memories.length },
  { id: "events", header: t("countEvents"), numeric: true, value: (row) => row.receipt.events.length },
  { id: "backups", header: t("backups"), numeric: true, width: 180, value: (row) => row.receipt.backups.length },
];

export function Forgotten() {
  const [opened, setOpened] = useState<Row | null>(null);
  const receipts = useQuery({
    queryKey: ["memories", "receipts"],
    queryFn: () => data(api.GET("/memories/receipts")),
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-10">
      <ForgetWords />
      <Panel title={t("receipts")} description={t("receiptsAbout")}>
        <DataTable
          name={t("receiptsName")}
          bare
          columns={COLUMNS}
          rows={receipts.data?.items}
          rowId={(row) => row.receipt.signature}
          error={receipts.error}
          onOpen={setOpened}
          empty={<Empty title={t("receiptsNone")}>{t("receiptsNoneWhy")}</Empty>}
        />
      </Panel>
      {opened && receipts.data && (
        <Receipt row={opened} publicKey={receipts.data.public_key} onClose={() => setOpened(null)} />
      )}
    </div>
  );
}

function Receipt({ row, publicKey, onClose }: { row: Row; publicKey: string; onClose: () => void }) {
  const { receipt } = row;
  const lists = [
    ["leftIn", receipt.left],
    ["backupsAre", receipt.backups],
    ["scanned", receipt.scanned],
  ] as const;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("receipt")}
      footer={<CopyButton words label={t("copy")} text={JSON.stringify({ ...row, public_key: publicKey }, null, 2)} />}
    >
      <div className="grid gap-4">
        {lists.map(
          ([name, lines]) =>
            lines.length > 0 && (
              <section key={name}>
                <h3 className="font-semibold">{t(name)}</h3>
                <ul className="list-disc ps-5">
                  {lines.map((line) => (
                    <li key={line}>
                      <SafeText>{line}</SafeText>
                    </li>
                  ))}
                </ul>
              </section>
            ),
        )}
        <dl className="grid gap-1 text-sm">
          <dt className="text-ink-2">{t("signature")}</dt>
          <dd className="break-all">
            <code>{receipt.signature}</code>
          </dd>
          <dt className="text-ink-2">{t("key")}</dt>
          <dd className="break-all">
            <code>{publicKey}</code>
          </dd>
        </dl>
      </div>
    </Dialog>
  );
}
