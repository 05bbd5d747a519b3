/** The bots that a person is reached by, how each stands, and the chats that were paired with it. */
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { api, data } from "@/api/client";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/channels";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { PageHead } from "@/ui/PageHead";
import { Skeleton } from "@/ui/Skeleton";
import { ChannelPanel } from "./ChannelPanel";

const SetChannel = part(async () => (await import("./SetChannel")).SetChannel);
/** Whether a platform is reached is no event. */
const LOOK_AGAIN_MS = 5_000;

export function ChannelsPage() {
  const { data: rows, error } = useQuery({
    queryKey: ["channels"],
    queryFn: async () => (await data(api.GET("/channels"))).items,
    refetchInterval: LOOK_AGAIN_MS,
  });
  /** A link of a chat says which kind is to be added. */
  const { connect }: { connect?: unknown } = useSearch({ strict: false });
  const [adding, setAdding] = useState(connect !== undefined);
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {t("add")}
    </Button>
  );
  return (
    <div className="max-w-240 p-4 md:p-6">
      <PageHead title={t("channels")} description={t("about")} actions={rows && rows.length > 0 && add} />
      {error && !rows ? (
        <ErrorNote error={error} />
      ) : !rows ? (
        <Skeleton lines={6} />
      ) : rows.length === 0 ? (
        <Empty title={t("none")} action={add}>
          <p>{t("noneWhy")}</p>
          <ol className="mt-2 list-decimal ps-5">
            <li>{t("stepBot")}</li>
            <li>{t("stepAdd")}</li>
            <li>{t("stepPair")}</li>
          </ol>
        </Empty>
      ) : (
        <div className="grid gap-4">
          {rows.map((row) => (
            <ChannelPanel key={row.channel.name} row={row} />
          ))}
        </div>
      )}
      {adding && rows && (
        <Suspense fallback={null}>
          <SetChannel
            first={String(connect)}
            taken={rows.map((row) => row.channel.name)}
            onClose={() => setAdding(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
