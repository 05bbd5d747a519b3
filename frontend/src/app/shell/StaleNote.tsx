import { useConnection } from "@/api/live";
import { t } from "@/i18n/en/app";

/** Says that the daemon was updated under this page, and how to follow. */
export function StaleNote() {
  const stale = useConnection((connection) => connection.stale);
  if (!stale) return null;
  return (
    <p
      role="alert"
      className="flex items-center justify-between gap-3 border-accent-line border-b bg-accent-fill px-4 py-2 md:px-6"
    >
      {t("stale")}
      <button
        type="button"
        onClick={() => location.reload()}
        className="min-h-[var(--target)] rounded-md px-2 font-medium text-accent underline"
      >
        {t("reload")}
      </button>
    </p>
  );
}
