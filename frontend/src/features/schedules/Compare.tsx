/** Tries what a schedule watches, now; nothing runs. */
import { api, data } from "@/api/client";
import { useCommand } from "@/api/queries";
import { t } from "@/i18n/en/schedules";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";

export function Compare({ name }: { name: string }) {
  const check = useCommand((whose: string) =>
    data(api.POST("/schedules/{name}/check", { params: { path: { name: whose } } })),
  );
  return (
    <div className="grid justify-items-start gap-2 text-sm">
      <Button size="sm" busy={check.isPending && t("comparing")} onClick={() => check.mutate(name)}>
        {t("compare")}
      </Button>
      <ErrorNote error={check.error} />
      <ul role="status" className="grid gap-1">
        {check.data?.items.map((row) => (
          <li key={row.watch}>
            {t(`state_${row.state}`)} <SafeText lines>{row.state === "changed" ? row.text : row.watch}</SafeText>
            {row.state === "unreachable" && <SafeText>{row.text}</SafeText>}
          </li>
        ))}
      </ul>
    </div>
  );
}
