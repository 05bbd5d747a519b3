import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/prompt";
import type { Row } from "@/story/shape";
import { formatPercent } from "@/ui/format";
import { Tooltip } from "@/ui/Tooltip";

const AROUND = 2 * Math.PI * 6;

/** How much of the model's window the next request fills; read again with each request. It opens the panel that says of what. */
export function ContextRing({ row, onOpen }: { row: Row; onOpen: () => void }) {
  const { data: context, isPending } = useQuery({
    queryKey: ["context ring", row.id, row.iterations, row.status],
    queryFn: () => data(api.GET("/sessions/{session}/context", { params: { path: { session: row.id } } })),
    placeholderData: (before) => before,
  });
  // Its place is kept: on a phone the field next to it would wrap its hint otherwise.
  if (isPending) return <span className="size-(--row) shrink-0" />;
  if (!context || context.window_tokens === 0) return null;
  const share = Math.min(1, context.tokens / context.window_tokens);
  const label = t("context", { share: formatPercent(share) });
  return (
    <Tooltip content={label}>
      <button
        type="button"
        aria-label={label}
        onClick={onOpen}
        className={`grid size-(--row) shrink-0 place-items-center rounded-md hover:bg-hover ${share > 0.8 ? "text-ask" : "text-accent"}`}
      >
        <svg
          aria-hidden="true"
          width="16"
          height="16"
          viewBox="0 0 16 16"
          fill="none"
          strokeWidth="2.5"
          className="-rotate-90"
        >
          <circle cx="8" cy="8" r="6" className="stroke-line" />
          <circle cx="8" cy="8" r="6" stroke="currentColor" strokeDasharray={`${share * AROUND} ${AROUND}`} />
        </svg>
      </button>
    </Tooltip>
  );
}
