/** What is shown where a page is not, or cannot be. */
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { useConnection } from "@/api/live";
import { t } from "@/i18n/en/app";
import { Skeleton } from "@/ui/Skeleton";

/** The code of the page is on its way. */
export function Loading() {
  return (
    <div aria-busy="true" className="max-w-300 p-4 md:p-6">
      <Skeleton lines={8} />
    </div>
  );
}

export function NotFound() {
  return (
    <section className="max-w-300 p-4 md:p-6">
      <h1 className="font-semibold text-xl">{t("notFound")}</h1>
      <p className="mt-2 text-ink-2">{t("notFoundWhy")}</p>
      <Link to="/" className="mt-4 inline-block text-accent underline">
        {t("goHome")}
      </Link>
    </section>
  );
}

/** A page whose code went away with an update is the daemon's doing, and loading anew mends it. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const stale = useConnection((connection) => connection.stale);
  return (
    <section className="max-w-300 p-4 md:p-6">
      <h1 className="font-semibold text-xl">{t("broken")}</h1>
      <p className="mt-2 text-ink-2">
        {t("brokenWhy", { error: error instanceof Error ? error.message : String(error) })}
      </p>
      <button type="button" onClick={stale ? () => location.reload() : reset} className="mt-4 text-accent underline">
        {t(stale ? "reload" : "tryAgain")}
      </button>
    </section>
  );
}
