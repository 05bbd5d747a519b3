import { useStreams } from "@/api/streams";
import { t } from "@/i18n/en/memory-views";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Badge } from "@/ui/State";
import { Time } from "@/ui/Time";
import { Found } from "./Found";
import type { Hit } from "./words";

/** A session is told so many characters of one thing; the rest it can look up. */
const TOLD_CHARS = 600;
const SOURCES = { memory: "fromMemory", chat: "fromChat", talk: "fromTalk" } as const;

/** One line as the model reads it, then where it is from and why it was found. */
export function ToldLine({ hit }: { hit: Hit }) {
  return (
    <li className="border-line border-b py-2.5">
      <p className="max-w-measure">
        <SafeText>{toldOf(hit)}</SafeText>
      </p>
      <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-ink-2 text-sm">
        <Where hit={hit} />
        {hit.label.integrity === "untrusted" && <Badge kind="tainted">{t("untrustedSource")}</Badge>}
        <Time at={hit.ts_ms} />
      </p>
      <Found why={hit.why} score={hit.score} className="mt-1" />
    </li>
  );
}

function Where({ hit }: { hit: Hit }) {
  const rows = useStreams(hit.session ? [hit.session] : []);
  const word = t(SOURCES[hit.source]);
  if (hit.memory) {
    return (
      <Link to="/memories" search={((before: object) => ({ ...before, id: hit.ref })) as never}>
        {word}
      </Link>
    );
  }
  const row = rows.get(hit.session);
  if (!row) return <span>{word}</span>;
  return (
    <Link
      to={row.kind === "session" ? "/sessions/$id" : "/objectives/$id"}
      params={{ id: hit.session }}
      search={{ at: Number(hit.ref.slice(2)) } as never}
    >
      <SafeText>{row.title || word}</SafeText>
    </Link>
  );
}

/** On one line, with who said it, and not longer than a session is told. */
function toldOf(hit: Hit): string {
  const text = Array.from(hit.text.replaceAll(/\s+/g, " ").trim());
  const short = text.length > TOLD_CHARS ? `${text.slice(0, TOLD_CHARS).join("")}…` : text.join("");
  return hit.who ? `${hit.who}: ${short}` : short;
}
