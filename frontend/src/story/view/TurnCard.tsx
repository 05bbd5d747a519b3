/** The end of a turn: what it changed by the record, which commands it ran, and what can be done about it. */
import type { Schema } from "@/api/client";
import { t as stateWord } from "@/i18n/en/status";
import { t } from "@/i18n/en/story";
import { cx } from "@/ui/classes";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import { Exit } from "./Exit";
import { shownOf } from "./lines";
import { LineCount } from "./StepLine";
import { useTools } from "./tools";

const FILES = 6;
const COMMANDS = 3;
const MARK = { added: "A", changed: "M", deleted: "D", mode: "M" } as const;

export function TurnEnd({ body, ts, words }: { body: Schema["TurnEnded"]; ts: number; words: boolean }) {
  const { kind, text } = shownOf(body);
  const { ran = [], agents = [] } = body.facts ?? {};
  return (
    <div className="pt-1 pb-2">
      {body.changed !== 0 && <Changes body={body} />}
      {body.changed === 0 && ran.length > 0 && <Ran ran={ran} />}
      {agents.length > 0 && (
        <p className="text-ink-2 text-sm">
          {t("turnAgents", { count: agents.length })} <SafeText>{agents.map(ended).join(", ")}</SafeText>
        </p>
      )}
      <p className={cx("flex items-center gap-3 py-1 text-xs", kind === "ask" ? "text-ask" : "text-ink-3")}>
        <span className={words || kind === "ask" ? undefined : "sr-only"}>{text}</span>
        <span className="h-px flex-1 bg-line" />
        <Time at={ts} exact className="tabular" />
      </p>
    </div>
  );
}

/** A subagent by its kind, and how it ended: by the record, whatever the model says of it. */
function ended({ specialist, status }: Schema["AgentRan"]): string {
  return `${specialist} (${stateWord(status)})`.trim();
}

function Changes({ body }: { body: Schema["TurnEnded"] }) {
  const tools = useTools();
  const { changes = [], changed = 0, turn } = body;
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  return (
    <section aria-label={t("turnChanges", { turn })} className="my-2 rounded-lg border border-line bg-raised text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
        <span className={changed < 0 ? "text-ask" : "font-medium"}>
          {changed < 0 ? t("pathsUnknown") : t("pathsChanged", { count: changed })}
        </span>
        <LineCount added={added} removed={removed} />
        <span className="ms-auto flex gap-2">{tools.turn?.(turn)}</span>
      </div>
      {changes.length > 0 && (
        <ul className="border-line border-t px-3 py-1.5">
          {changes.slice(0, FILES).map((change) => (
            <li key={change.path} className="flex min-w-0 items-baseline gap-2 leading-6">
              <span aria-hidden="true" className={cx("w-3 shrink-0 font-mono", INK[change.kind])}>
                {MARK[change.kind]}
              </span>
              <span className="sr-only">{t(`change_${change.kind}`)}</span>
              <span className="min-w-0 flex-1 truncate font-mono text-xs leading-6">
                <SafeText>{change.path}</SafeText>
              </span>
              <LineCount added={change.added} removed={change.removed} />
            </li>
          ))}
          {changed > FILES && <li className="text-ink-2">{t("more", { count: changed - FILES })}</li>}
        </ul>
      )}
      {(body.facts?.ran ?? []).length > 0 && (
        <div className="border-line border-t px-3 py-1.5">
          <Ran ran={body.facts?.ran ?? []} />
        </div>
      )}
    </section>
  );
}

const INK = { added: "text-good", changed: "text-ink-2", deleted: "text-danger", mode: "text-ink-2" } as const;

/** Commands and how they ended: what happened, next to what the model says of it. */
function Ran({ ran }: { ran: NonNullable<Schema["RunFacts"]["ran"]> }) {
  return (
    <ul aria-label={t("commandsRun")}>
      {ran.slice(-COMMANDS).map(({ line, exit_code: code }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a command of the list is its place in it
        <li key={at} className="flex min-w-0 items-center gap-2 leading-6">
          <span aria-hidden="true" className="w-3 shrink-0 font-mono text-ink-3 text-xs">
            $
          </span>
          <span className="min-w-0 flex-1 truncate font-mono text-ink-2 text-xs leading-6">
            <SafeText>{line}</SafeText>
          </span>
          {code === null ? <span className="text-danger">{t("noExit")}</span> : <Exit code={code} />}
        </li>
      ))}
    </ul>
  );
}
