import { t } from "@/i18n/en/story";
import { Elapsed } from "./Elapsed";

/** The one live line: a model was asked and has not said anything yet. */
export function Thinking({ since }: { since: number }) {
  return (
    <p className="flex items-center gap-2 py-2 text-ink-2 text-sm">
      <span aria-hidden="true" className="size-1.5 animate-pulse rounded-full bg-accent" />
      {t("thinking")} <Elapsed since={since} />
    </p>
  );
}
