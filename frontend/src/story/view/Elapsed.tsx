import { useEffect, useState } from "react";
import { formatDuration } from "@/ui/format";

/** How long something has been going on, second by second. A clock of the daemon's that is ahead makes it 0. */
export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className="tabular">{formatDuration(Math.max(1, Math.floor((now - since) / 1000)))}</span>;
}
