/**
 * One reducer over the same events as the daemon's read models: `begin(id)`, then `took(story, events)` for what comes,
 * events of the journal and pieces of what is under way alike. What was seen before changes nothing.
 */

import { Draft } from "./draft";
import { take } from "./items";
import { showPiece } from "./pieces";
import { advance, openedRow, shown, standing } from "./row";
import type { Event, Story, Transient } from "./shape";
import { followed, silence } from "./talk";

/** The story of a stream before its first event. */
export function begin(id: string): Story {
  return {
    id,
    seq: 0,
    row: null,
    items: [],
    writing: null,
    request: null,
    progress: null,
    watchers: null,
    opening: null,
    deleted: false,
    fold: { talk: silence(false), paused: false, requests: 0, steps: 0, settled: 0, places: new Map() },
  };
}

/** The story after these, in order; the same one when they change nothing. Those of other streams are passed over. */
export function took(story: Story, news: readonly (Event | Transient)[]): Story {
  const draft = new Draft(story);
  for (const item of news) {
    if (item.stream !== story.id) continue;
    if (!("seq" in item)) showPiece(draft, item.body);
    else if (item.seq > draft.seq) follow(draft, item);
  }
  return draft.done();
}

function follow(draft: Draft, event: Event): void {
  const { body } = event;
  draft.seq = event.seq;
  draft.changed = true;
  const before = { talk: draft.talk, plan: draft.row?.plan ?? [] };
  if (body.type === "session.deleted") {
    draft.forget();
    take(draft, event, before);
    return;
  }
  if (body.type === "session.opened") {
    draft.opening = body;
    draft.talk = silence(!body.contract);
    draft.row = openedRow(event, body);
    take(draft, event, before);
    return;
  }
  // What was erased changes no row: the deletion that erased it comes later. Nor does it that words were forgotten.
  if (draft.row && body.type !== "erased" && body.type !== "content.redacted") {
    const at = standing(draft.row, draft.fold(), draft.request);
    advance(at, event);
    draft.talk = followed(draft.talk, body);
    draft.row = shown(at, draft.talk, event.ts);
    draft.paused = at.paused;
    draft.requests = at.requests;
    draft.request = at.request;
  }
  take(draft, event, before);
}
