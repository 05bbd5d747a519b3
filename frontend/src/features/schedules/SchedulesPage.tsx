import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/schedules";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { PageHead } from "@/ui/PageHead";
import { DataTable } from "@/ui/table/DataTable";
import { AddSchedule } from "./AddSchedule";
import { Agenda } from "./Agenda";
import { COLUMNS } from "./columns";
import { ScheduleDrawer } from "./ScheduleDrawer";

export function SchedulesPage() {
  const schedules = useQuery({ queryKey: ["schedules"], queryFn: () => data(api.GET("/schedules")) });
  const [adding, setAdding] = useState(false);
  const [opened, open] = useState("");
  const rows = schedules.data?.items;
  const shown = rows?.find((row) => row.schedule.name === opened);
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {t("addOne")}
    </Button>
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
          <Empty title={t("none")} action={add}>
            {t("noneWhy")}
          </Empty>
        }
      />
      {rows && rows.length > 0 && <Agenda onOpen={open} />}
      {adding && (
        <AddSchedule
          taken={rows?.map((row) => row.schedule.name) ?? []}
          onClose={(name) => {
            setAdding(false);
            open(name);
          }}
        />
      )}
      {shown && <ScheduleDrawer row={shown} onClose={() => open("")} />}
    </div>
  );
}
