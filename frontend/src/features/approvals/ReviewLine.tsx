import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/approvals";
import { ButtonLink } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Shape } from "@/ui/State";
import { Time } from "@/ui/Time";

const PATHS = 3;

/** Changes that wait, in short, and the way to their diff, where they are applied or thrown away. */
export function ReviewLine({ row }: { row: Schema["ObjectiveRow"] }) {
  const { held } = row.review;
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 rounded-lg border border-ask-line bg-ask-fill px-4 py-3">
      <span className="text-ask">
        <Shape kind="ask" />
      </span>
      <div className="min-w-0">
        <p className="truncate font-medium">{reviewWords(row)}</p>
        {held.slice(0, PATHS).map(({ path, why }) => (
          <p key={path} className="truncate text-sm">
            <SafeText mono>{path}</SafeText>{" "}
            <span className="text-ink-2">
              <SafeText>{why}</SafeText>
            </span>
          </p>
        ))}
        <p className="truncate text-ink-2 text-sm">
          <SafeText>{row.title}</SafeText>, <Time at={row.updated_ms} />
        </p>
      </div>
      <ButtonLink
        to={row.kind === "session" ? "/sessions/$id" : "/objectives/$id"}
        params={{ id: row.id }}
        aria-label={t("reviewNamed", { what: row.title })}
      >
        {t("reviewIt")}
      </ButtonLink>
    </div>
  );
}

/** How many changes wait. */
export function reviewWords({ review: { waiting } }: Schema["ObjectiveRow"]): string {
  return waiting < 0 ? t("reviewMany") : t("review", { count: waiting });
}
