import { useEffect, useState } from "react";
import { useConnection } from "@/api/live";
import { t } from "@/i18n/en/app";

/** A restart takes less; a note for it would only flash. */
const OFFLINE_MS = 2500;

/** Whether what is shown may be old: a moment after the daemon stopped answering, until it is back. */
export function useOutdated(): boolean {
  const since = useConnection((connection) => connection.offlineSince);
  const [shownSince, setShownSince] = useState(0);
  useEffect(() => {
    if (since === 0) return;
    const timer = setTimeout(() => setShownSince(since), OFFLINE_MS);
    return () => clearTimeout(timer);
  }, [since]);
  return since > 0 && shownSince === since;
}

/** Says that what is shown may be old, and what to do. */
export function OfflineNote() {
  return (
    <p role="alert" className="border-danger-line border-b bg-danger-fill px-4 py-2 md:px-6">
      {t("offlineDetail")}
    </p>
  );
}

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
