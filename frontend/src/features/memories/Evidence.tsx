/** The words that a memory rests on, as they were said, each with a way to where that was. */
import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { useStreams } from "@/api/streams";
import { t } from "@/i18n/en/memories";
import { ErrorNote } from "@/ui/ErrorNote";
import { Link } from "@/ui/Link";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import { Loading } from "./Loading";
import type { Memory } from "./words";

type Quote = Schema["Quote"];

export function Evidence({ memory }: { memory: Memory }) {
  const { id } = memory;
  const some = memory.evidence.length > 0;
  const { data: quotes, error } = useQuery({
    queryKey: ["memories", "evidence", id],
    enabled: some,
    queryFn: async () => (await data(api.GET("/memories/{id}/evidence", { params: { path: { id } } }))).items,
  });
  const rows = useStreams(quotes?.filter((quote) => !quote.gone).map((quote) => quote.session) ?? []);
  return (
    <Panel title={t("evidence")}>
      {!some ? (
        <p className="max-w-measure text-ink-2">{t("evidenceNone")}</p>
      ) : error ? (
        <ErrorNote title={t("evidenceFailed")} error={error} />
      ) : quotes ? (
        <ul className="grid gap-4">
          {quotes.map((quote) => (
            <li key={`${quote.seq}.${quote.start}`}>
              <Quoted quote={quote} kind={rows.get(quote.session)?.kind} />
            </li>
          ))}
        </ul>
      ) : (
        <Loading lines={3} />
      )}
    </Panel>
  );
}

function Quoted({ quote, kind }: { quote: Quote; kind: "objective" | "session" | undefined }) {
  if (quote.gone) return <p className="text-ink-2">{t("evidenceGone")}</p>;
  const { before, words, after } = cut(quote);
  return (
    <figure>
      <blockquote className="max-h-60 max-w-measure overflow-y-auto border-accent border-s-2 ps-3">
        <SafeText lines>{before}</SafeText>
        <mark className="rounded-sm bg-ask-fill font-medium text-ink">
          <SafeText lines>{words}</SafeText>
        </mark>
        <SafeText lines>{after}</SafeText>
      </blockquote>
      <figcaption className="mt-1 flex flex-wrap items-center gap-x-3 text-ink-2 text-sm">
        <span>{whoWord(quote.who)}</span>
        <Time at={quote.ts_ms} />
        {kind ? (
          <Link
            to={kind === "session" ? "/sessions/$id" : "/objectives/$id"}
            params={{ id: quote.session }}
            search={{ at: quote.seq } as never}
          >
            <SafeText>{quote.title || t("evidenceHere")}</SafeText>
          </Link>
        ) : (
          <SafeText>{quote.title || t("untitled")}</SafeText>
        )}
      </figcaption>
    </figure>
  );
}

/** Where the words begin and end; the daemon counts characters, not halves of pairs. */
export function cut({ text, start, end }: Pick<Quote, "text" | "start" | "end">) {
  const characters = Array.from(text);
  return {
    before: characters.slice(0, start).join(""),
    words: characters.slice(start, end).join(""),
    after: characters.slice(end).join(""),
  };
}

function whoWord(who: string) {
  if (who === "user") return t("you");
  if (who === "assistant") return t("whoAssistant");
  return <SafeText>{who}</SafeText>;
}
