import { t } from "@/i18n/en/history";
import { cx } from "@/ui/classes";
import { Link } from "@/ui/Link";
import type { Kind } from "./words";

/** Everywhere, in objectives, or in sessions; each with an address of its own. */
export function Filters({ query, where }: { query: string; where: Kind | "" }) {
  return (
    <nav aria-label={t("place")}>
      <ul className="flex gap-1">
        {(["", "objective", "session"] as const).map((one) => (
          <li key={one}>
            <Link
              to="/search"
              search={{ q: query, ...(one && { in: one }) }}
              kind="plain"
              aria-current={one === where ? "page" : undefined}
              className={cx(
                "-mb-px flex h-(--row-roomy) items-center border-b-2 px-2 -outline-offset-2",
                one === where ? "border-accent font-medium text-ink" : "border-transparent text-ink-2",
              )}
            >
              {t(one || "all")}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
