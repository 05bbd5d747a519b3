/** Pieces of what is under way, as they come. Each is made up for by the event that follows. */
import type { Draft } from "./draft";
import type { Transient } from "./shape";
import { extended, TAIL_LIMIT } from "./text";

export function showPiece(draft: Draft, body: Transient["body"]): void {
  switch (body.type) {
    case "text.delta": {
      if (body.number <= draft.settled) return;
      const before = draft.writing?.number === body.number ? draft.writing : null;
      if (draft.writing && body.number < draft.writing.number) return;
      const tail = extended(before, body.offset, body.text);
      if (tail === before) return;
      draft.writing = { ...tail, number: body.number };
      draft.changed = true;
      return;
    }
    case "output.delta": {
      const step = draft.step(body.key);
      if (!step || step.state === "done" || step.state === "dropped") return;
      const live = extended(step.live, body.offset, body.text, TAIL_LIMIT);
      if (live !== step.live) draft.setStep(body.key, () => ({ live }));
      return;
    }
    case "progress":
      draft.progress = body.done < body.total ? body : null;
      draft.changed = true;
      return;
    case "presence":
      draft.watchers = body;
      draft.changed = true;
      return;
    default:
    // A newer daemon shows more than this page knows of, and none of it is lost.
  }
}
