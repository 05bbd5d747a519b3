import { Skeleton } from "@/ui/Skeleton";

/** Lines where something is on its way for the first time. */
export function Loading({ lines }: { lines: number }) {
  return (
    <div aria-busy="true">
      <Skeleton lines={lines} />
    </div>
  );
}
