import { useEffect, useState } from "react";
import { formatDuration } from "@/ui/format";
import { Progress } from "@/ui/Progress";
import { Skeleton } from "@/ui/Skeleton";

/** Something that is waited for: lines at first and, after a second, what goes on and for how long. */
export function Waiting({ label }: { label: string }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div aria-busy="true">
      {seconds === 0 ? (
        <Skeleton lines={5} label={label} />
      ) : (
        <Progress label={label} value={null} detail={formatDuration(seconds)} className="max-w-measure py-4" />
      )}
    </div>
  );
}
