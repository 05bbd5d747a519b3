/** What becomes of a call: judged, asked about, run, changed by the person, finished. */
import type { Draft } from "./draft";
import type { Body, Event, Question, StepItem, StepRow, StepState, Story } from "./shape";
import { firstLine, stripped } from "./text";

/** Characters of an outcome that a row shows as its error. */
const ERROR_LIMIT = 300;

/** Put an event into the step that it is about; false when it is about none, or the step is not there. */
export function called(draft: Draft, event: Event, body: Body): boolean {
  switch (body.type) {
    case "call.judged": {
      const { type: _, key, tool, ...judged } = body;
      const state: StepState = body.verdict === "ask" ? "asking" : body.verdict === "deny" ? "refused" : "approved";
      return settled(draft.setStep(key, (step) => ({ tool, judged, state: step.finished ? step.state : state })));
    }
    case "approval.requested":
      return draft.setStep(body.key, () => ({ question: question(body, event.ts), state: "asking" }));
    case "approval.given":
      return answered(draft, body.key, { status: "given", door: body.door }, "approved");
    case "approval.denied":
      return answered(draft, body.key, { status: "denied", door: body.door, why: body.reason }, "refused");
    case "approval.lapsed":
      return answered(draft, body.key, { status: "lapsed", why: body.why }, body.why === "changed" ? "new" : "lapsed");
    case "tool.started": {
      const { tool, arguments: text } = body;
      const fresh = { tool, arguments: text, state: "running", startedMs: event.ts, live: null } as const;
      return settled(draft.setStep(body.key, () => fresh));
    }
    case "tool.reopened":
      return settled(draft.setStep(body.key, () => ({ state: "new", live: null })));
    case "tool.finished": {
      const { type: _, key, tool: __, ...finished } = body;
      return settled(draft.setStep(key, () => ({ finished, state: "done", endedMs: event.ts, live: null })));
    }
    case "call.edited":
      return settled(draft.setStep(body.key, () => ({ ...UNDONE, arguments: body.arguments, edited: body.door })));
    case "call.cancelled":
      return settled(draft.setStep(body.key, (step) => ({ cancelled: true, cancelReason: body.reason, ...off(step) })));
    case "call.retried":
      return settled(draft.setStep(body.key, (step) => ({ ...UNDONE, cancelled: false, retries: step.retries + 1 })));
    case "file.changed": {
      const edit = { change: body.change, seq: event.seq, undone: false };
      return draft.setStep(body.key, (step) => ({ edits: [...step.edits, edit] }));
    }
    case "edit.undone":
      undo(draft, body.key, body.path, !body.again);
      return false; // and it is told where it was done
    case "changes.landed":
      return draft.setStep(body.key, () => ({ landing: body.landing }));
    case "egress.used":
      return draft.setStep(body.key, (step) => ({ egress: [...step.egress, body] }));
    case "reading.replied":
      return settled(counted(draft, body.key, body.spend.tokens, body.spend.usd_micros));
    case "reading.failed":
      counted(draft, body.key, body.spend.tokens, body.spend.usd_micros);
      return false;
    default:
      return false;
  }
}

/** Calls that nobody will come to any more. One that runs may still end. */
export function dropped(draft: Draft, keys: readonly string[]): void {
  for (const key of keys) {
    draft.setStep(key, (step) => (step.state === "done" ? {} : { state: "dropped", live: null }));
  }
}

/** The daemon's own row of each step, in order. */
export function stepRows(story: Story): StepRow[] {
  const rows: StepRow[] = [];
  for (const item of story.items) {
    if (item.kind === "reply" && item.step > 0) {
      rows.push({
        ...BARE,
        session: story.id,
        index: item.step,
        ts_ms: item.ts,
        turn: item.turn,
        reasoning: stripped(item.text),
        tokens_in: item.body.usage.input,
        tokens_out: item.body.usage.output,
        usd_micros: item.body.spend.usd_micros,
        duration_ms: item.body.duration_ms,
      });
    } else if (item.kind === "step") rows.push(stepRow(story.id, item));
  }
  return rows;
}

/** Why a step did not do what it should, on one line; "" when it did. */
export function errorOf(step: StepItem): string {
  const { finished } = step;
  if (!finished || finished.outcome === "ok") return "";
  return firstLine(stripped(finished.text), ERROR_LIMIT) || finished.outcome;
}

const BARE: Omit<StepRow, "session" | "index" | "ts_ms" | "reasoning" | "turn"> = {
  key: "",
  tool: "",
  input: "",
  output: "",
  verdict: "",
  rule: "",
  risk: "",
  outcome: "",
  tokens_in: 0,
  tokens_out: 0,
  usd_micros: 0,
  duration_ms: 0,
  error: "",
  warnings: [],
  edited: false,
  cancelled: false,
};

function stepRow(session: string, step: StepItem): StepRow {
  return {
    session,
    index: step.index,
    ts_ms: step.ts,
    reasoning: step.reasoning,
    key: step.key,
    tool: step.tool,
    input: step.arguments,
    output: step.finished?.text ?? "",
    verdict: step.judged?.verdict ?? "",
    rule: step.judged?.reason.rule ?? "",
    risk: step.judged?.risk ?? "",
    outcome: step.finished?.outcome ?? "",
    tokens_in: step.tokensIn,
    tokens_out: step.tokensOut,
    usd_micros: step.usdMicros,
    duration_ms: step.finished?.duration_ms ?? 0,
    error: errorOf(step),
    warnings: step.finished?.warnings ?? [],
    turn: step.turn,
    edited: step.edited !== "",
    cancelled: step.cancelled,
  };
}

/** To be judged, and run, anew. */
const UNDONE = { state: "new", finished: null, landing: null, endedMs: 0, live: null } as const;

/** What is known of no step says nothing to a person: the reply that it belongs to was erased. */
function settled(_known: boolean): true {
  return true;
}

function off(step: StepItem): Partial<StepItem> {
  return step.state === "running" || step.state === "done" ? {} : { state: "refused" };
}

function question(asked: Question["asked"], ts: number): Question {
  return { asked, status: "pending", door: "", why: "", ts };
}

function answered(draft: Draft, key: string, answer: Partial<Question>, state: StepState): true {
  draft.setStep(key, (step) => ({
    question: step.question && { ...step.question, ...answer },
    state: step.state === "asking" ? state : step.state,
  }));
  return true;
}

function undo(draft: Draft, key: string, path: string, undone: boolean): void {
  draft.setStep(key, (step) => ({
    edits: step.edits.map((edit) => (edit.change.path === path ? { ...edit, undone } : edit)),
  }));
}

function counted(draft: Draft, key: string, tokens: number, usdMicros: number): boolean {
  return draft.setStep(key, ({ read }) => ({
    read: { requests: read.requests + 1, tokens: read.tokens + tokens, usdMicros: read.usdMicros + usdMicros },
  }));
}
