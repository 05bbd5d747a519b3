/** What a schedule waits for that comes due when something comes in: where to send it, what was refused, a test. */
import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { queries, useCommand } from "@/api/queries";
import { t } from "@/i18n/en/schedules";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import type { Schedule } from "./columns";

export function Trigger({ row }: { row: Schedule }) {
  const { name, when } = row.schedule;
  const triggers = useQuery({
    queryKey: ["schedules", "triggers"],
    queryFn: () => data(api.GET("/triggers")),
    refetchInterval: 10_000, // what is refused is no event
  });
  const test = useCommand((whose: string) =>
    data(api.POST("/triggers/{name}/test", { params: { path: { name: whose } } })),
  );
  const one = triggers.data?.items.find((found) => found.name === name);
  if (when.type !== "arrival") return null;
  return (
    <section className="grid gap-2 text-sm">
      <ErrorNote error={triggers.error ?? test.error} />
      {one?.url && (
        <div className="flex items-center gap-2">
          <code className="min-w-0 flex-1 break-all">{one.url}</code>
          <CopyButton text={one.url} label={t("copyUrl")} />
        </div>
      )}
      {one?.fault && (
        <p className="text-danger">
          <SafeText>{one.fault}</SafeText>
        </p>
      )}
      {one && one.refused.times > 0 && (
        <p className="text-ink-2">
          {t("refusedTimes", { count: one.refused.times })} <Time at={one.refused.last_ms} />{" "}
          <SafeText>{one.refused.why}</SafeText>
        </p>
      )}
      {when.source.type === "webhook" && (
        <Button
          className="justify-self-start"
          busy={test.isPending && t("testing")}
          onClick={() =>
            test.mutate(name, {
              onSuccess: ({ status }) => {
                toast(
                  status === 200
                    ? { title: t("testTaken"), kind: "good" }
                    : { title: t("testRefused", { status }), kind: "danger" },
                );
                return queries.invalidateQueries({ queryKey: ["schedules"] });
              },
            })
          }
        >
          {t("test")}
        </Button>
      )}
    </section>
  );
}
