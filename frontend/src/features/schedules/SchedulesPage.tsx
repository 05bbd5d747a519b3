import { useQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { api, data } from "@/api/client";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/schedules";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { PageHead } from "@/ui/PageHead";
import { DataTable } from "@/ui/table/DataTable";
import { Agenda } from "./Agenda";
import { COLUMNS } from "./columns";
import { ScheduleDrawer } from "./ScheduleDrawer";

const AddSchedule = part(async () => (await import("./AddSchedule")).AddSchedule);
const AddTrigger = part(async () => (await import("./AddTrigger")).AddTrigger);

export function SchedulesPage() {
  const schedules = useQuery({ queryKey: ["schedules"], queryFn: () => data(api.GET("/schedules")) });
  const [adding, setAdding] = useState<"" | "schedule" | "trigger">("");
  const [opened, open] = useState("");
  const rows = schedules.data?.items;
  const Add = adding === "trigger" ? AddTrigger : AddSchedule;
  const shown = rows?.find((row) => row.schedule.name === opened);
  const add = (
    <>
      <Button icon="plus" onClick={() => setAdding("trigger")}>
        {t("addTrigger")}
      </Button>
      <Button kind="primary" icon="plus" onClick={() => setAdding("schedule")}>
        {t("addOne")}
      </Button>
    </>
  );
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead title={t("schedules")} description={t("about")} actions={rows?.length !== 0 && add} />
      <DataTable
        name={t("table")}
        columns={COLUMNS}
        rows={rows}
        rowId={(row) => row.schedule.name}
        error={schedules.error}
        onOpen={(row) => open(row.schedule.name)}
        exportAs="stead-schedules"
        empty={
          <Empty title={t("none")} action={<div className="flex flex-wrap gap-2">{add}</div>}>
            {t("noneWhy")}
          </Empty>
        }
      />
      {rows && rows.length > 0 && <Agenda onOpen={open} />}
      {adding && (
        <Suspense fallback={null}>
          <Add
            taken={rows?.map((row) => row.schedule.name) ?? []}
            onClose={(name) => {
              setAdding("");
              open(name);
            }}
          />
        </Suspense>
      )}
      {shown && <ScheduleDrawer row={shown} onClose={() => open("")} />}
    </div>
  );
}
