/** What each event adds to what people read, or changes in it. */
import type { Schema } from "@/api/client";
import { meant } from "./calls";
import type { Draft } from "./draft";
import type { Body, Event, LineBody, StepItem } from "./shape";
import { called, dropped } from "./steps";
import type { Talk } from "./talk";
import { stripped } from "./text";

/** How things stood before the event. */
export interface Before {
  readonly talk: Talk;
  readonly plan: readonly Schema["PlanStep"][];
}

export function take(draft: Draft, event: Event, before: Before): void {
  const { body } = event;
  switch (body.type) {
    case "session.opened":
      draft.add(event, { kind: "opened", body });
      return;
    case "message.received":
      draft.add(event, { kind: "said", body });
      return;
    case "model.replied":
      reply(draft, event, body);
      return;
    case "model.failed":
      settle(draft, body.number);
      draft.add(event, { kind: "failed", body });
      return;
    case "plan.made":
      draft.add(event, { kind: "plan", body, before: before.plan });
      return;
    case "erased":
      erased(draft, event);
      return;
    case "model.requested":
    case "reading.requested":
    case "machine.started":
    case "machine.ended":
      return;
    default:
      if (called(draft, event, body)) return;
      if (isLine(body)) draft.add(event, { kind: "line", body });
      else draft.add(event, { kind: "strange", type: body.type });
      if (ENDINGS.has(body.type)) dropped(draft, before.talk.unanswered);
  }
}

/** What leaves calls behind that nobody will come to. */
const ENDINGS: ReadonlySet<string> = new Set(["turn.ended", "session.closed", "conversation.set", "objective.ended"]);

const LINES: Readonly<Record<LineBody["type"], true>> = {
  "notice.given": true,
  "rules.read": true,
  "checkpoint.taken": true,
  "checkpoint.failed": true,
  "checkpoint.restored": true,
  "conversation.set": true,
  "context.trimmed": true,
  "context.compacted": true,
  "instructions.set": true,
  "memory.loaded": true,
  "memory.recalled": true,
  "content.redacted": true,
  "edit.undone": true,
  "file.changed": true,
  "egress.used": true,
  "turn.ended": true,
  "objective.ended": true,
  "objective.retried": true,
  "session.paused": true,
  "session.resumed": true,
  "session.stopped": true,
  "session.closed": true,
  "session.deleted": true,
  "budget.raised": true,
  "grant.made": true,
  "grant.revoked": true,
  "sources.trusted": true,
  "protected.quarantined": true,
  "changes.landed": true,
  "review.wanted": true,
  "trial.applied": true,
  "trial.discarded": true,
  "reading.failed": true,
  "terminal.opened": true,
  "terminal.closed": true,
};

function isLine(body: Body): body is LineBody {
  return Object.hasOwn(LINES, body.type);
}

function settle(draft: Draft, number: number): void {
  draft.settled = Math.max(draft.settled, number);
  if (draft.writing && draft.writing.number <= number) draft.writing = null;
}

function reply(draft: Draft, event: Event, { type: _, parts, number, ...body }: Schema["ModelReplied"]): void {
  settle(draft, number);
  const words = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const thinking = parts.flatMap((part) => (part.type === "thinking" ? [part.text] : []));
  const calls = parts.flatMap((part) => (part.type === "call" ? [part] : []));
  const step = calls.length === 0 ? draft.steps + 1 : 0;
  draft.add(
    event,
    {
      kind: "reply",
      number,
      text: words.join("\n"),
      thinking: thinking.join("\n\n"),
      calls: calls.length,
      step,
      body,
    },
    `r${number}.${event.seq}`,
  );
  const said = stripped(words.join("\n"));
  for (const [place, call] of calls.entries()) {
    const first = place === 0;
    draft.addStep(event, {
      ...NEW,
      index: draft.steps + 1 + place,
      key: call.key,
      ...named(call),
      reasoning: said,
      tokensIn: first ? body.usage.input : 0,
      tokensOut: first ? body.usage.output : 0,
      usdMicros: first ? body.spend.usd_micros : 0,
    });
  }
  draft.steps += Math.max(1, calls.length);
}

function named(call: Schema["ToolCall"]): { tool: string; arguments: string } {
  const [tool, text] = meant(call);
  return { tool, arguments: text };
}

const NEW: Omit<
  StepItem,
  | "id"
  | "seq"
  | "ts"
  | "turn"
  | "index"
  | "key"
  | "tool"
  | "arguments"
  | "reasoning"
  | "tokensIn"
  | "tokensOut"
  | "usdMicros"
> = {
  kind: "step",
  state: "new",
  judged: null,
  question: null,
  startedMs: 0,
  finished: null,
  endedMs: 0,
  edited: "",
  cancelled: false,
  cancelReason: "",
  retries: 0,
  edits: [],
  egress: [],
  landing: null,
  read: { requests: 0, tokens: 0, usdMicros: 0 },
  live: null,
};

function erased(draft: Draft, event: Event): void {
  const last = draft.last();
  if (last?.kind === "erased") draft.replaceLast({ ...last, count: last.count + 1 });
  else draft.add(event, { kind: "erased", count: 1 });
}
