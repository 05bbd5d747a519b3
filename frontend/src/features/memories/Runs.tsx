/** Runs of consolidation: what each changed, taking one back, and having one now. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t as words } from "@/i18n/en/memories";
import { t } from "@/i18n/en/memory-views";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import type { Column } from "@/ui/table/columns";
import { DataTable } from "@/ui/table/DataTable";
import { readAgain } from "./actions";
import { RunDialog } from "./RunDialog";
import { StateOfMemory } from "./StateOfMemory";
import { Waiting } from "./Waiting";
import { type Place, placeWord, usePlaces } from "./words";

export type Run = Schema["RunRow"];

export function Runs() {
  const { data: places, isPending } = usePlaces();
  const [opened, setOpened] = useState<Run | null>(null);
  const runs = useQuery({
    queryKey: ["memories", "runs"],
    queryFn: async () => (await data(api.GET("/memories/runs", { params: { query: { limit: 200 } } }))).items,
  });
  const now = useCommand((_: "now", key) =>
    data(api.POST("/memories/consolidate", { params: withKey(key), body: {} })),
  );
  const consolidate = () =>
    now.mutate("now", {
      onSuccess: ({ text }) => {
        toast({ title: t("consolidated"), detail: text, kind: "good" });
        return readAgain();
      },
    });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <div className="grid gap-4">
        <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-3">
          <p className="max-w-measure text-ink-2">{t("runsAbout")}</p>
          <Button icon="refresh" busy={now.isPending && t("consolidating")} onClick={consolidate}>
            {t("consolidate")}
          </Button>
        </div>
        {now.isPending && <Waiting label={t("consolidating")} />}
        <ErrorNote error={now.error} kept={words("kept")} />
        <DataTable
          name={t("runsName")}
          bare
          columns={columnsOf(places)}
          // With the names of their places, which a row is as high as.
          rows={isPending ? undefined : runs.data}
          rowId={(row) => row.run.run}
          error={runs.error}
          onOpen={setOpened}
          empty={<Empty title={t("runsNone")}>{t("runsNoneWhy")}</Empty>}
        />
      </div>
      {/* It would be moved by as many rows as there are. */}
      {!isPending && !runs.isPending && <StateOfMemory />}
      {opened && <RunDialog row={opened} onClose={() => setOpened(null)} />}
    </div>
  );
}

function columnsOf(places: readonly Place[] | undefined): readonly Column<Run>[] {
  return [
    {
      id: "ended",
      header: t("ended"),
      value: (row) => row.ended_ms,
      cell: (row) => <Time at={row.ended_ms} />,
      width: 150,
    },
    {
      id: "place",
      header: words("place"),
      value: (row) => placeWord(row.run.place, places),
      cell: (row) => <bdi>{placeWord(row.run.place, places)}</bdi>,
    },
    { id: "read", header: t("read"), numeric: true, value: (row) => row.run.read },
    { id: "made", header: t("made"), numeric: true, value: (row) => row.run.made },
    { id: "retired", header: t("archivedState"), numeric: true, value: (row) => row.run.retired },
    { id: "proposed", header: t("proposed"), numeric: true, value: (row) => row.run.proposed },
    { id: "tokens", header: t("tokens"), numeric: true, value: (row) => row.run.tokens },
    {
      id: "by",
      header: t("by"),
      value: (row) => row.run.by,
      cell: (row) =>
        row.run.reverted ? (
          <span className="text-ink-2">{t("revertOf", { run: row.run.reverted })}</span>
        ) : row.run.by === "rules" ? (
          t("rules")
        ) : (
          <SafeText>{row.run.by}</SafeText>
        ),
      width: 170,
    },
  ];
}
