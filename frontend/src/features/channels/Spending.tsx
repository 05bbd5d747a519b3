/** What a channel, or one of its chats, may spend in a day and in a month: shown where it is capped, and changed. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, data } from "@/api/client";
import { CapDialog } from "@/features/budgets/CapDialog";
import { CapMeters, type Capped } from "@/features/budgets/cap";
import { t } from "@/i18n/en/channels";
import { Button } from "@/ui/Button";

const NONE = { tokens: "unlimited", usd_micros: "unlimited" } as const;
const NOTHING = { tokens: 0, usd_micros: 0, price_known: true };
const UNCAPPED: Capped = { daily: NONE, monthly: NONE, spent_today: NOTHING, spent_month: NOTHING };

/** `of`: the channel's name, or CHANNEL/CHAT by the platform's id; `children`: buttons that stand next to its own. */
export function Spending({ of, children }: { of: string; children?: ReactNode }) {
  const [changing, setChanging] = useState(false);
  const { data: caps } = useQuery({ queryKey: ["cap"], queryFn: () => data(api.GET("/cap")) });
  const capped = caps?.channels.find((one) => one.channel === of);
  return (
    <>
      {capped && (
        <div className="grid gap-x-10 gap-y-3 md:grid-cols-2">
          <CapMeters caps={capped} />
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <Button size="sm" disabled={!caps} onClick={() => setChanging(true)}>
          {t("spending")}
        </Button>
        {children}
      </div>
      {changing && (
        <CapDialog
          caps={capped ?? UNCAPPED}
          about={t("spendingAbout")}
          channel={of}
          onClose={() => setChanging(false)}
        />
      )}
    </>
  );
}
