/** Times that run, second by second; they stand still while nobody can say whether what they count goes on. */
import { useEffect, useState } from "react";
import { useConnection } from "@/api/live";
import { t } from "@/i18n/en/story";
import { formatDuration } from "@/ui/format";

/** How long something has been going on. A clock of the daemon's that is ahead makes it 0. */
export function Elapsed({ since }: { since: number }) {
  return <span className="tabular">{formatDuration(Math.max(1, Math.floor((useNow() - since) / 1000)))}</span>;
}

/** How long until the daemon asks the model again. */
export function Countdown({ due }: { due: number }) {
  const left = Math.ceil((due - useNow()) / 1000);
  return (
    <span className="text-ink-2 tabular">
      {left > 0 ? t("retryIn", { time: formatDuration(left) }) : t("retryingNow")}
    </span>
  );
}

function useNow(): number {
  const offlineSince = useConnection((connection) => connection.offlineSince);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (offlineSince > 0) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [offlineSince]);
  return offlineSince || now;
}
