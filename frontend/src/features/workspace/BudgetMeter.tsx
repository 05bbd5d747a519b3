import { Meter } from "@base-ui/react/meter";
import { useId } from "react";
import { formats } from "@/i18n";
import { t } from "@/i18n/en/workspace";
import { cx } from "@/ui/classes";
import { formatCount, formatUsd } from "@/ui/format";
import { type Forecast, forecast, hoursLeft, type Limit, type Sample, type Spending, share } from "./budget/forecast";

export interface BudgetMeterProps extends Spending {
  /** What the last turns or steps spent, oldest first: the better base of a forecast. */
  samples?: readonly Sample[] | undefined;
  /** What a sample is of. */
  unit?: "turn" | "step" | undefined;
  /** Since when it has spent; the base of a forecast where there are no samples. Leave it out once it has ended. */
  createdMs?: number | undefined;
}

const NEAR = 0.8;
const rough = new Intl.NumberFormat(formats, { maximumSignificantDigits: 2 });

/** What was spent of what may be, in tokens and in money, and how long the rest lasts. */
export function BudgetMeter({ samples, unit = "turn", createdMs, ...spending }: BudgetMeterProps) {
  const { tokensUsed, tokensReserved, tokensLimit, usdMicrosUsed, usdMicrosLimit, priceKnown } = spending;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Bar
        label={t("tokens")}
        used={tokensUsed}
        reserved={tokensReserved}
        limit={tokensLimit}
        saidUsed={formatCount(tokensUsed)}
        saidReserved={formatCount(tokensReserved)}
        saidLimit={tokensLimit === "unlimited" ? "" : formatCount(tokensLimit)}
      />
      <Bar
        label={t("money")}
        used={usdMicrosUsed}
        limit={usdMicrosLimit}
        saidUsed={formatUsd(usdMicrosUsed, priceKnown)}
        saidLimit={usdMicrosLimit === "unlimited" ? "" : formatUsd(usdMicrosLimit)}
      />
      <Outlook spending={spending} samples={samples ?? []} unit={unit} createdMs={createdMs} />
    </div>
  );
}

function Bar({
  label,
  used,
  reserved = 0,
  limit,
  saidUsed,
  saidReserved = "",
  saidLimit,
}: {
  label: string;
  used: number;
  reserved?: number;
  limit: Limit;
  saidUsed: string;
  saidReserved?: string;
  saidLimit: string;
}) {
  const noteId = useId();
  const gone = share(used, limit);
  const held = share(used + reserved, limit);
  const state = gone === null ? "open" : gone >= 1 ? "spent" : gone >= NEAR ? "near" : "open";
  const words =
    limit === "unlimited" ? t("usedNoLimit", { used: saidUsed }) : t("usedOf", { used: saidUsed, limit: saidLimit });
  const notes = [
    state === "spent" ? t("spent") : state === "near" ? t("nearlySpent") : "",
    reserved > 0 ? t("reserved", { amount: saidReserved }) : "",
  ].filter(Boolean);
  return (
    <div>
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="text-sm font-medium">{label}</span>
        <span className="tabular text-sm text-ink-2">{words}</span>
      </div>
      {gone !== null && held !== null && (
        <Meter.Root
          value={gone * 100}
          aria-label={label}
          aria-valuetext={words}
          aria-describedby={notes.length > 0 ? noteId : undefined}
        >
          <Meter.Track className="relative mt-1.5 h-2 overflow-hidden rounded-full bg-hover inset-ring inset-ring-line">
            <span className="absolute inset-y-0 start-0 bg-accent-line" style={{ width: `${held * 100}%` }} />
            <Meter.Indicator
              className={cx(
                "absolute inset-y-0 start-0",
                state === "spent" ? "bg-danger" : state === "near" ? "bg-ask" : "bg-accent",
              )}
            />
          </Meter.Track>
        </Meter.Root>
      )}
      {notes.length > 0 && (
        <p
          id={noteId}
          className={cx(
            "mt-1 text-sm",
            state === "spent" ? "text-danger" : state === "near" ? "text-ask" : "text-ink-2",
          )}
        >
          {notes.join(" · ")}
        </p>
      )}
    </div>
  );
}

function Outlook({
  spending,
  samples,
  unit,
  createdMs,
}: {
  spending: Spending;
  samples: readonly Sample[];
  unit: "turn" | "step";
  createdMs: number | undefined;
}) {
  const ahead = forecast(spending, samples);
  if (ahead) return <p className="text-sm text-ink-2">{inWords(ahead, unit, spending.priceKnown)}</p>;
  const hours = createdMs === undefined ? null : hoursLeft(spending, createdMs, Date.now());
  if (hours === null) return null;
  const words =
    hours < 1 ? t("minutesLeft", { count: Math.round(hours * 60) }) : t("hoursLeft", { count: Math.round(hours) });
  return <p className="text-sm text-ink-2">{words}</p>;
}

function inWords({ left, of, tokensEach, usdMicrosEach }: Forecast, unit: "turn" | "step", priced: boolean): string {
  const tokens = rough.format(tokensEach);
  const each =
    priced && usdMicrosEach > 0
      ? t("eachBoth", { tokens, money: formatUsd(usdMicrosEach) })
      : t("eachTokens", { tokens });
  const pace = t(unit === "turn" ? "paceTurns" : "paceSteps", { count: of, each });
  if (left === null) return pace;
  return `${t(unit === "turn" ? "turnsLeft" : "stepsLeft", { count: left })} ${pace}`;
}
