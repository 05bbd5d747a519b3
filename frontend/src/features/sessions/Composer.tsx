/** Where the person speaks. Enter sends; while it works, what is sent is read before the next request, or cuts in. */
import { type KeyboardEvent, useRef, useState } from "react";
import { activeCard, showCard } from "@/features/approvals/active";
import { ForkDialog } from "@/features/workspace/checkpoints/ForkDialog";
import { t as words } from "@/i18n/en/prompt";
import { t } from "@/i18n/en/sessions";
import type { Row, Story } from "@/story/shape";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { hasPageFocus } from "@/ui/focus";
import { KeyHint } from "@/ui/KeyHint";
import { toast } from "@/ui/Toasts";
import { Tooltip } from "@/ui/Tooltip";
import { AttachButton, AttachedFiles } from "./AttachField";
import { useAttaching } from "./attaching";
import { ContextRing } from "./ContextRing";
import { useDeed } from "./commands";
import { isCoarse, saidBefore, useSaying } from "./drafts";
import { LabelsDialog } from "./LabelsDialog";
import { ModelDialog } from "./ModelSwitch";
import { QueuedMessages } from "./QueuedMessages";
import { type Command, useSuggest } from "./Suggest";
import { isRunning } from "./words";

const SAY: Partial<Record<Row["status"], "sayClosed" | "sayWaiting">> = { closed: "sayClosed", waiting: "sayWaiting" };

type Act = ReturnType<typeof useDeed>["act"];

export interface ComposerProps {
  row: Row;
  story: Story;
  onSent: () => void;
  /** Show what the next request holds. */
  onContext: () => void;
}

export function Composer({ row, story, onSent, onContext }: ComposerProps) {
  const [text, setText] = useSaying(row.id);
  const { act, pending, error, reset } = useDeed(row.id);
  const box = useRef<HTMLTextAreaElement>(null);
  const history = useHistory(story, text, setText);
  const [caret, setCaret] = useState(0);
  const [asking, setAsking] = useState<Asked | null>(null);
  const working = isRunning(row.status);
  const attaching = useAttaching();
  const stop = () => act({ verb: "stop" }, () => toast({ title: words("stopped"), detail: words("stoppedWhy") }));
  const suggest = useSuggest({
    session: row.id,
    text,
    caret,
    commands: commandsOf(row, act, stop, setAsking),
    setText: (next) => {
      setText(next);
      setCaret(next.length);
    },
  });
  const empty = (text.trim() === "" && attaching.files.length === 0) || attaching.uploading;

  const say = (interrupt: boolean) => {
    if (empty || pending) return;
    const sent = attaching.files;
    act({ verb: "say", text, interrupt, attachments: sent.map((file) => file.content) }, () => {
      attaching.clear(sent);
      // What was typed while it was sent stays.
      setText((now) => (now === text ? "" : now));
      onSent();
    });
  };
  const keys = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || event.altKey) return;
    if (suggest.onKey(event)) return event.preventDefault();
    if (event.key === "Escape") {
      const card = row.status === "waiting" && activeCard();
      if (card) showCard(card);
      else if (isRunning(row.status) && row.status !== "waiting") stop();
      else box.current?.blur();
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && (event.ctrlKey || event.metaKey || !isCoarse())) {
      event.preventDefault();
      say(working && (event.ctrlKey || event.metaKey));
    } else if (history(event)) {
      event.preventDefault();
    }
  };

  return (
    <form
      className="relative w-full max-w-4xl px-4 pb-3 md:px-6"
      onSubmit={(event) => {
        event.preventDefault();
        say(false);
      }}
    >
      {error && (
        <div className="mb-2">
          <ErrorNote title={t("failed_say")} error={error} kept={t("kept")} />
        </div>
      )}
      {suggest.list}
      {working && <QueuedMessages session={row.id} />}
      <AttachedFiles attaching={attaching} />
      <div className="flex flex-wrap items-end justify-end gap-2 rounded-lg border border-line-strong bg-raised p-1.5 focus-within:border-accent focus-within:outline-1 focus-within:outline-accent">
        <textarea
          ref={box}
          rows={1}
          autoFocus={!isCoarse() && row.status !== "waiting" && hasPageFocus()}
          value={text}
          aria-label={t("message")}
          placeholder={t(SAY[row.status] ?? (working ? "sayMore" : "say"))}
          {...suggest.aria}
          onSelect={(event) => setCaret(event.currentTarget.selectionEnd)}
          onChange={(event) => {
            setText(event.target.value);
            setCaret(event.target.selectionEnd);
            if (error) reset();
          }}
          onKeyDown={keys}
          onPaste={attaching.onPaste}
          className="field-sizing-content max-h-[40dvh] min-h-(--row) min-w-36 flex-1 resize-none bg-transparent px-2 py-1.5 text-base outline-none placeholder:text-ink-3"
        />
        <ContextRing row={row} onOpen={onContext} />
        <AttachButton attaching={attaching} />
        {working && (
          <Tooltip
            content={
              <span className="flex items-center gap-2">
                {t("interruptWhy")} <KeyHint keys="Mod+Enter" />
              </span>
            }
          >
            <Button kind="plain" disabled={empty || pending !== null} onClick={() => say(true)}>
              {t("interrupt")}
            </Button>
          </Tooltip>
        )}
        <Button
          type="submit"
          kind={working ? "plain" : "primary"}
          disabled={empty}
          busy={pending === "say" && t("sending")}
        >
          {t("send")}
        </Button>
      </div>
      {asking === "model" && row.chain[0] && (
        <ModelDialog id={row.id} now={row.chain[0]} onClose={() => setAsking(null)} />
      )}
      {asking === "rename" && <LabelsDialog row={row} onClose={() => setAsking(null)} />}
      {asking === "fork" && <ForkDialog session={row.id} onClose={() => setAsking(null)} />}
    </form>
  );
}

type Asked = "model" | "rename" | "fork";

/** What can be had by name now. */
function commandsOf(row: Row, act: Act, stop: () => void, ask: (asked: Asked) => void): Command[] {
  const checkpoint = () => act({ verb: "checkpoint" }, () => toast({ title: t("checkpointTaken"), kind: "good" }));
  const all: (Command | false)[] = [
    { name: "model", icon: "bolt", act: () => ask("model") },
    isRunning(row.status) && { name: "stop", icon: "stop", act: stop },
    isRunning(row.status) && { name: "pause", icon: "pause", act: () => act({ verb: "pause" }) },
    row.status === "paused" && { name: "resume", icon: "play", act: () => act({ verb: "resume" }) },
    row.kind === "session" && { name: "checkpoint", icon: "flag", act: checkpoint },
    { name: "rename", icon: "edit", act: () => ask("rename") },
    { name: "fork", icon: "arrow-right", act: () => ask("fork") },
  ];
  return all.filter((command) => command !== false);
}

/** The up arrow brings back what was said before, the down arrow what was being written. */
function useHistory(story: Story, text: string, setText: (text: string) => void) {
  const [at, setAt] = useState(-1);
  const [kept, setKept] = useState("");
  return (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const { key, currentTarget: box } = event;
    if (key !== "ArrowUp" && key !== "ArrowDown") {
      if (key.length === 1 || key === "Backspace") setAt(-1);
      return false;
    }
    const said = saidBefore(story);
    const walking = at >= 0 && text === said[at];
    const first = !text.slice(0, box.selectionStart).includes("\n");
    const last = !text.slice(box.selectionEnd).includes("\n");
    if (key === "ArrowUp" && first && (walking || text === "")) {
      const next = Math.min(said.length - 1, walking ? at + 1 : 0);
      if (next < 0) return false;
      if (!walking) setKept(text);
      setAt(next);
      setText(said[next] ?? "");
      return true;
    }
    if (key === "ArrowDown" && last && walking) {
      setAt(at - 1);
      setText(at === 0 ? kept : (said[at - 1] ?? ""));
      return true;
    }
    return false;
  };
}
