import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/secrets";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { PageHead } from "@/ui/PageHead";
import { DataTable } from "@/ui/table/DataTable";
import { AddSecret } from "./AddSecret";
import { COLUMNS } from "./columns";
import { SecretDrawer } from "./SecretDrawer";

export function SecretsPage() {
  const secrets = useQuery({ queryKey: ["secrets"], queryFn: () => data(api.GET("/secrets")) });
  const [adding, setAdding] = useState(false);
  const [opened, open] = useState("");
  const rows = secrets.data?.items;
  const shown = rows?.find((row) => row.name === opened);
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {t("add")}
    </Button>
  );
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead title={t("secrets")} description={t("about")} actions={rows?.length !== 0 && add} />
      <DataTable
        name={t("table")}
        columns={COLUMNS}
        rows={rows}
        rowId={(row) => row.name}
        error={secrets.error}
        onOpen={(row) => open(row.name)}
        exportAs="stead-secrets"
        empty={
          <Empty title={t("none")} action={add}>
            {t("noneWhy")}
          </Empty>
        }
      />
      {adding && (
        <AddSecret
          taken={rows?.map((row) => row.name) ?? []}
          onClose={(name) => {
            setAdding(false);
            open(name);
          }}
        />
      )}
      {shown && <SecretDrawer row={shown} onClose={() => open("")} />}
    </div>
  );
}
