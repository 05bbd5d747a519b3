import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/app";
import { formatUsd } from "@/ui/format";

/** What the models cost today (as the daemon counts days: the person's). */
export function Spend() {
  const { data: usage } = useQuery({
    queryKey: ["usage", 1],
    queryFn: () => data(api.GET("/usage", { params: { query: { days: 1 } } })),
  });
  const micros = (usage?.items ?? []).reduce((sum, row) => sum + row.usd_micros, 0);
  return (
    <Link
      to="/usage"
      className="tabular flex min-h-6 items-center whitespace-nowrap text-ink-2 text-xs hover:text-ink max-[23rem]:hidden"
      title={t("spentToday")}
    >
      <span className="sr-only">{t("spentToday")} </span>
      {formatUsd(micros, true)}
    </Link>
  );
}
