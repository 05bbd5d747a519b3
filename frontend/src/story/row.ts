/**
 * The row of an objective or a session after each event: what the daemon's lists show of it, by the same rules
 * (`storage/projection.py`), so that a page that is open is never behind its own list.
 */
import type { Schema } from "@/api/client";
import type { Body, Event, Fold, Opening, OpenRequest, Row } from "./shape";
import type { Talk } from "./talk";

/** What the row's next state follows from, beside the row. */
export interface Standing {
  row: Row;
  /** As before the event. */
  talk: Talk;
  paused: boolean;
  requests: number;
  request: OpenRequest | null;
}

const NO_REVIEW: Row["review"] = { waiting: 0, held: [] };

export function openedRow(event: Event, body: Opening): Row {
  const interactive = !body.contract;
  return {
    id: event.stream,
    title: body.title,
    goal: body.contract?.goal ?? "",
    constraints: body.constraints ?? [],
    status: interactive ? "idle" : "pending",
    reason: "",
    summary: "",
    directory: body.directory,
    chain: body.chain,
    budget: body.budget,
    tokens_used: 0,
    tokens_reserved: 0,
    usd_micros_used: 0,
    price_known: true,
    iterations: 0,
    plan: [],
    pending_approvals: 0,
    created_ms: event.ts,
    updated_ms: event.ts,
    ended_ms: 0,
    kind: interactive ? "session" : "objective",
    turns: 0,
    review: NO_REVIEW,
  };
}

/** Let one more event change the row and what stands beside it; the talk moves on afterwards. */
export function advance(at: Standing, event: Event): void {
  const { body } = event;
  switch (body.type) {
    case "model.requested":
    case "reading.requested": {
      at.row = { ...at.row, tokens_reserved: body.reserved.tokens, iterations: at.row.iterations + 1 };
      at.requests += 1;
      const reading = body.type === "reading.requested";
      at.request = { number: body.number, since: event.ts, reserved: body.reserved, reading };
      return;
    }
    case "model.replied":
    case "model.failed":
    case "reading.replied":
    case "reading.failed":
      settle(at, body.spend);
      return;
    case "plan.made":
      at.row = { ...at.row, plan: body.steps };
      return;
    case "approval.requested":
      at.row = { ...at.row, pending_approvals: at.row.pending_approvals + 1 };
      return;
    case "approval.given":
    case "approval.denied":
    case "approval.lapsed":
      at.row = { ...at.row, pending_approvals: Math.max(0, at.row.pending_approvals - 1) };
      return;
    default:
      turn(at, body, event.ts);
  }
}

/** The row as it is shown: with its one word, its turns and its time. */
export function shown(at: Standing, talk: Talk, ts: number): Row {
  return { ...at.row, status: statusOf(at, talk), turns: talk.turn, updated_ms: ts };
}

export function standing(row: Row, fold: Fold, request: OpenRequest | null): Standing {
  return { row, talk: fold.talk, paused: fold.paused, requests: fold.requests, request };
}

function settle(at: Standing, spend: Schema["Spend"]): void {
  at.row = {
    ...at.row,
    tokens_reserved: 0,
    tokens_used: at.row.tokens_used + spend.tokens,
    usd_micros_used: at.row.usd_micros_used + spend.usd_micros,
    price_known: at.row.price_known && spend.price_known,
  };
  at.request = null;
}

/** The turns of its life. */
function turn(at: Standing, body: Body, ts: number): void {
  const { row } = at;
  switch (body.type) {
    case "session.paused":
    case "session.stopped":
      at.row = { ...row, reason: body.why };
      at.paused = true;
      return;
    case "session.resumed":
      at.row = { ...row, reason: "" };
      at.paused = false;
      return;
    case "objective.ended": {
      const { status, reason, summary } = body;
      at.row = { ...row, status, reason, summary, ended_ms: ts, pending_approvals: 0 };
      at.paused = false;
      return;
    }
    case "objective.retried":
      at.row = { ...row, reason: "", summary: "", ended_ms: 0, iterations: 0, budget: onTop(at, body.budget) };
      at.paused = false;
      return;
    case "message.received":
      if (!at.talk.interactive) return;
      if (at.talk.resting) at.row = { ...row, reason: "", summary: "", iterations: 0 };
      else if (at.paused) at.row = { ...row, reason: "" };
      at.paused = false;
      return;
    case "turn.ended":
      if (at.talk.unread) at.row = { ...row, iterations: 0 };
      else at.row = { ...row, reason: body.reason, summary: body.summary };
      return;
    case "conversation.set":
      at.row = { ...row, plan: body.carried.plan ?? [], reason: "", summary: "" };
      return;
    case "budget.raised":
      at.row = { ...row, budget: body.budget };
      return;
    case "review.wanted":
      at.row = { ...row, review: body.review };
      return;
    case "trial.applied":
    case "trial.discarded":
      if (body.type === "trial.discarded" || !body.left) at.row = { ...row, review: NO_REVIEW };
      return;
    default:
  }
}

/** What a retry may spend comes on top of what is spent and reserved. */
function onTop(at: Standing, more: Schema["Budget"]): Schema["Budget"] {
  const reserved = at.request?.reserved;
  return {
    tokens: sum(at.row.tokens_used + (reserved?.tokens ?? 0), more.tokens),
    usd_micros: sum(at.row.usd_micros_used + (reserved?.usd_micros ?? 0), more.usd_micros),
  };
}

function sum(spent: number, more: Schema["Budget"]["tokens"]): Schema["Budget"]["tokens"] {
  return more === "unlimited" ? more : spent + more;
}

function statusOf(at: Standing, talk: Talk): Row["status"] {
  if (at.row.ended_ms) return at.row.status;
  if (talk.closed) return "closed";
  if (at.paused) return "paused";
  if (talk.resting) return "idle";
  if (at.row.pending_approvals) return "waiting";
  return at.requests > 0 ? "running" : "pending";
}
