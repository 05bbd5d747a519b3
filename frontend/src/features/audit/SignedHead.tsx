import { useQuery } from "@tanstack/react-query";
import { api, data, Refused, type Schema } from "@/api/client";
import { t } from "@/i18n/en/audit";
import { CopyButton } from "@/ui/CopyButton";
import { ErrorNote } from "@/ui/ErrorNote";
import { Skeleton } from "@/ui/Skeleton";
import { Time } from "@/ui/Time";

type Head = Schema["Head"];

export const HEAD = ["audit", "head"];

/** What the newest head says, read when somebody wants to know. */
export function SignedHead() {
  const { data: head, error } = useQuery({ queryKey: HEAD, queryFn: readHead });
  if (error) return <ErrorNote title={t("headFailed")} error={error} />;
  if (head === undefined) return <Skeleton lines={3} label={t("headReading")} />;
  if (head === null) return <p className="text-sm">{t("headNone")}</p>;
  const marks = [
    [t("root"), head.root],
    [t("chain"), head.chain],
    [t("journal"), head.journal],
    [t("key"), head.key],
    [t("signature"), head.signature],
  ] as const;
  return (
    <>
      <p className="mb-2 text-base">
        {t("headCovers", { size: head.size })} <Time at={head.ts_ms} />
      </p>
      <dl className="grid gap-x-6 gap-y-1 text-sm md:grid-cols-[max-content_minmax(0,1fr)]">
        {marks.map(([name, value]) => (
          <div key={name} className="md:contents">
            <dt className="text-ink-2">{name}</dt>
            <dd className="font-mono break-all">{value}</dd>
          </div>
        ))}
      </dl>
      <CopyButton words text={JSON.stringify(head)} label={t("copyHead")} className="my-2" />
    </>
  );
}

/** Null where none was signed yet: that is an answer, not a fault. */
async function readHead(): Promise<Head | null> {
  try {
    return await data(api.GET("/audit/head"));
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}
