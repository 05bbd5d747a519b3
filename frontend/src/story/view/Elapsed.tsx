import { useEffect, useState } from "react";
import { useConnection } from "@/api/live";
import { formatDuration } from "@/ui/format";

/**
 * How long something has been going on, second by second; it stands still while nobody can say whether it still does.
 * A clock of the daemon's that is ahead makes it 0.
 */
export function Elapsed({ since }: { since: number }) {
  const offlineSince = useConnection((connection) => connection.offlineSince);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (offlineSince > 0) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [offlineSince]);
  const until = offlineSince || now;
  return <span className="tabular">{formatDuration(Math.max(1, Math.floor((until - since) / 1000)))}</span>;
}
