/**
 * Whether a session's turn is on. The rules are the daemon's (`storage/talk.py`), and tests/web/test_story.py holds the
 * two against each other after every event.
 */
import type { Body } from "./shape";

export interface Talk {
  /** A person works in it, turn by turn. */
  readonly interactive: boolean;
  /** Nothing happens until it is told something. */
  readonly resting: boolean;
  /** Put away. */
  readonly closed: boolean;
  /** How many there were, the one under way included. */
  readonly turn: number;
  /** A model request waits for its reply. */
  readonly asked: boolean;
  /** Of the last reply, until all are answered. */
  readonly calls: readonly string[];
  /** Those of them without a result. */
  readonly unanswered: readonly string[];
  /** Words came while a request or calls were open; a turn that ends before it comes to them begins the next. */
  readonly unread: boolean;
}

export function silence(interactive: boolean): Talk {
  return {
    interactive,
    resting: interactive,
    closed: false,
    turn: 0,
    asked: false,
    calls: [],
    unanswered: [],
    unread: false,
  };
}

/** Where it stands after one more event. */
export function followed(talk: Talk, body: Body): Talk {
  switch (body.type) {
    case "message.received":
      return heard(talk.interactive ? spokenTo(talk) : talk);
    case "rules.read":
      return body.files.length > 0 ? heard(talk) : talk;
    case "model.requested":
      return { ...talk, asked: true };
    case "model.replied": {
      const keys = body.parts.flatMap((part) => (part.type === "call" ? [part.key] : []));
      return { ...talk, asked: false, calls: keys, unanswered: keys, unread: talk.unread && keys.length > 0 };
    }
    case "model.failed":
      return { ...answered(talk), asked: false };
    case "tool.finished": {
      if (!talk.calls.includes(body.key)) return talk;
      const left = talk.unanswered.filter((key) => key !== body.key);
      return left.length > 0 ? { ...talk, unanswered: left } : answered(talk);
    }
    case "call.retried":
      return talk.calls.includes(body.key) ? { ...talk, unanswered: [...talk.unanswered, body.key] } : talk;
    case "turn.ended":
      return { ...answered(talk), resting: !talk.unread, turn: talk.turn + (talk.unread ? 1 : 0) };
    case "conversation.set":
      return { ...answered(talk), resting: true };
    case "objective.ended":
      return answered(talk);
    case "session.closed":
      return { ...answered(talk), closed: true, resting: true };
    case "session.paused":
    case "session.stopped":
    case "session.resumed":
      return talk.closed ? { ...talk, closed: false } : talk;
    default:
      return talk;
  }
}

function spokenTo(talk: Talk): Talk {
  return { ...talk, closed: false, resting: false, turn: talk.turn + (talk.resting ? 1 : 0) };
}

function heard(talk: Talk): Talk {
  return { ...talk, unread: talk.unread || talk.asked || talk.calls.length > 0 };
}

function answered(talk: Talk): Talk {
  return { ...talk, calls: [], unanswered: [], unread: false };
}
