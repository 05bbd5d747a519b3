/** Whether the ways of finding something work. */
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/memories";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";

type Leg = Schema["LegState"];

/** All of them, each with why not and what to do. */
export function Legs({ legs }: { legs: readonly Leg[] }) {
  return (
    <ul aria-label={t("legs")} className="grid gap-x-8 gap-y-1 text-sm md:grid-cols-2">
      {legs.map((leg) => (
        <li key={leg.leg} className="min-w-0">
          <State kind={leg.alive ? "good" : "ask"} wrap>
            {t(`leg_${leg.leg}`)}: {t(leg.alive ? "legAlive" : "legDead")}
          </State>
          {leg.text && (
            <p className="max-w-measure ps-4 text-ink-2">
              <SafeText>{leg.text}</SafeText>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** A line where one does not work; nothing where all do. */
export function LegsNote({ legs }: { legs: readonly Leg[] }) {
  const dead = legs.filter((leg) => !leg.alive);
  if (dead.length === 0) return null;
  return (
    <div role="status" className="mb-3 text-sm">
      {dead.map((leg) => (
        <p key={leg.leg} className="max-w-measure">
          <State kind="ask" wrap>
            {leg.leg === "meaning" ? t("legNote") : `${t(`leg_${leg.leg}`)}: ${t("legDead")}`}
          </State>{" "}
          <span className="text-ink-2">
            <SafeText>{leg.text}</SafeText>
          </span>
        </p>
      ))}
    </div>
  );
}
