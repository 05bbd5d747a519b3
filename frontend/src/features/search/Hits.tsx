import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/history";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import { type Hit, pieces, saidBy } from "./words";

/** Places of the history, best first; each leads to where it was said. */
export function Hits({ hits, rows }: { hits: readonly Hit[]; rows: ReadonlyMap<string, Schema["ObjectiveRow"]> }) {
  return (
    <ol aria-label={t("results")} className="divide-y divide-line">
      {hits.map((hit) => {
        const row = rows.get(hit.session);
        return (
          <li key={hit.seq} className="[contain-intrinsic-size:auto_76px] [content-visibility:auto]">
            <Link
              to={row?.kind === "session" ? "/sessions/$id" : "/objectives/$id"}
              params={{ id: hit.session }}
              search={{ at: hit.seq }}
              kind="plain"
              className="-outline-offset-2 block py-3 hover:bg-hover md:-mx-3 md:px-3"
            >
              <span className="flex flex-wrap items-baseline gap-x-3 text-sm">
                <span className="min-w-0 truncate font-medium text-base max-md:basis-full">
                  <SafeText>{row?.title || t("unnamed")}</SafeText>
                </span>
                <span className="text-ink-2">{saidBy(hit.type)}</span>
                <Time at={new Date(hit.ts_ms)} className="ms-auto text-ink-2" />
              </span>
              <span className="mt-0.5 line-clamp-3 max-w-measure text-ink-2">
                <Excerpt text={hit.excerpt} />
              </span>
            </Link>
          </li>
        );
      })}
    </ol>
  );
}

function Excerpt({ text }: { text: string }) {
  return pieces(text).map((piece) =>
    piece.found ? (
      <mark key={piece.at} className="rounded-sm bg-ask-fill px-0.5 font-medium text-ink">
        <SafeText>{piece.text}</SafeText>
      </mark>
    ) : (
      <SafeText key={piece.at}>{piece.text}</SafeText>
    ),
  );
}
