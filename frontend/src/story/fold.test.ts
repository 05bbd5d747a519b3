import { describe, expect, it } from "vitest";
import { begin, took } from "./fold";
import type { Body, Event, Item, Story } from "./shape";
import { asked, finished, key, opened, output, piece, replied, STREAM, said, started, text, told } from "./told";

function tell(...bodies: Body[]): Story {
  return took(begin(STREAM), told(...bodies));
}

function next(story: Story, body: Body): Event {
  const [event] = told(body);
  return { ...(event as Event), seq: story.seq + 1 };
}

function step(story: Story, at = 1) {
  const found = story.items.find((item) => item.id === key(at));
  if (found?.kind !== "step") throw new Error("there is no such step");
  return found;
}

const running = [
  opened,
  said("Go"),
  asked(1),
  replied(1, "", ["shell", "{}"]),
  started(1, "shell", '{"command":"ls"}'),
];

describe("a reply that is being written", () => {
  const open = tell(opened, said("Go"), asked(1));

  it("grows by pieces in order, by offsets in code points", () => {
    const story = took(open, [text(1, 0, "A 🦦 "), text(1, 4, "swims")]);
    expect(story.writing).toEqual({ number: 1, text: "A 🦦 swims", length: 9, gap: false });
  });

  it("is not changed by a piece that was there, and takes what is new of one that overlaps", () => {
    const story = took(open, [text(1, 0, "A 🦦 swims")]);
    expect(took(story, [text(1, 0, "A 🦦 "), text(1, 4, "swims")])).toBe(story);
    expect(took(story, [text(1, 2, "🦦 swims on")]).writing?.text).toBe("A 🦦 swims on");
  });

  it("tells of a hole, at its beginning and inside", () => {
    const story = took(open, [text(1, 5, "late")]);
    expect(story.writing).toMatchObject({ text: "…late", gap: true, length: 9 });
    expect(took(story, [text(1, 20, "later")]).writing).toMatchObject({ text: "…late\n…\nlater", gap: true });
  });

  it("gives way to the reply, and late pieces of it are dropped", () => {
    const story = took(open, [text(1, 0, "Half"), ...told(opened, said("Go"), asked(1), replied(1, "Half of it."))]);
    expect(story.writing).toBeNull();
    expect(story.items.at(-1)).toMatchObject({ kind: "reply", text: "Half of it." });
    expect(took(story, [text(1, 4, " of it.")])).toBe(story);
  });
});

describe("a call's output while it runs", () => {
  it("shows its end, and gives way to the outcome", () => {
    const story = took(tell(...running), [output(key(1), 0, "x".repeat(200_000)), output(key(1), 200_000, "the end")]);
    const live = step(story).live;
    expect(live?.text.endsWith("the end")).toBe(true);
    expect(live?.text.length).toBeLessThan(110_000);
    const done = took(story, [next(story, finished(1, "shell", "all of it"))]);
    expect(step(done)).toMatchObject({ live: null, state: "done", finished: { text: "all of it" } });
    expect(took(done, [output(key(1), 0, "late")])).toBe(done);
  });

  it("of a call that is not known is passed over", () => {
    const story = tell(...running);
    expect(took(story, [output("call_9_9", 0, "x")])).toBe(story);
  });
});

describe("sharing", () => {
  it("keeps every item that did not change", () => {
    const before = tell(...running);
    const story = took(before, [next(before, finished(1, "shell", "done"))]);
    const same = before.items.filter((item, at) => story.items[at] === item);
    expect(same.length).toBe(before.items.length - 1);
    expect(step(before).finished).toBeNull();
  });

  it("gives the same story back for what it has seen, and for other streams", () => {
    const story = tell(...running);
    expect(took(story, told(...running))).toBe(story);
    const [foreign] = told(opened);
    expect(took(story, [{ ...(foreign as Event), seq: 99, stream: "s_other" }])).toBe(story);
  });

  it("gives items names of their own", () => {
    const twice = tell(
      ...running,
      finished(1, "shell", ""),
      asked(2),
      replied(2, ""),
      said("x"),
      asked(1),
      replied(1, "", ["shell", "{}"]),
    );
    const names = twice.items.map((item) => item.id);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("what this page has no words for", () => {
  it("stands as a plain line and moves the story on", () => {
    const story = tell(opened, { type: "harbour.opened", berths: 4 } as unknown as Body, said("Go"));
    expect(story.items[1]).toMatchObject({ kind: "strange", type: "harbour.opened" });
    expect(story.row?.status).toBe("pending");
    expect(story.seq).toBe(3);
  });

  it("is passed over among the pieces", () => {
    const story = tell(opened);
    expect(took(story, [piece({ type: "tide.delta" } as never)])).toBe(story);
  });
});

describe("what is gone", () => {
  it("erased payloads are one line, and a deletion leaves nothing else", () => {
    const erased: Body = { type: "erased", was: "message.received" };
    expect(tell(erased, erased, erased).items).toMatchObject([{ kind: "erased", count: 3 }]);
    const story = tell(...running, { type: "session.deleted" });
    expect(story.items.map((item: Item) => item.kind)).toEqual(["line"]);
    expect(story).toMatchObject({ row: null, deleted: true, writing: null });
  });

  it("calls that a turn's end left behind are dropped, not pending", () => {
    const ended: Body = { type: "turn.ended", turn: 1, reason: "stall", summary: "", changes: [], changed: 0 };
    expect(step(tell(opened, said("Go"), asked(1), replied(1, "", ["shell", "{}"]), ended)).state).toBe("dropped");
  });
});

it("folds 5,000 events in less than 100 ms, in one go and in frames", () => {
  const bodies: Body[] = [opened];
  for (let number = 1; bodies.length < 5000; number += 1) {
    bodies.push(said("On"), asked(number), replied(number, "I look.", ["read", '{"path":"notes/tides.md"}']));
    bodies.push(started(number, "read", '{"path":"notes/tides.md"}'), finished(number, "read", "High at 06:10"));
  }
  const events = told(...bodies);
  let story = begin(STREAM);
  let framed = begin(STREAM);
  const best = (act: () => void) => {
    const times = Array.from({ length: 7 }, () => {
      const start = performance.now();
      act();
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  const once = best(() => {
    story = took(begin(STREAM), events);
  });
  const inFrames = best(() => {
    framed = begin(STREAM);
    for (let at = 0; at < events.length; at += 100) framed = took(framed, events.slice(at, at + 100));
  });
  expect(framed.items).toEqual(story.items);
  expect(story.items.length).toBeGreaterThan(2900);
  expect(once).toBeLessThan(100);
  expect(inFrames).toBeLessThan(100);
});

describe("what was remembered and what was forgotten", () => {
  it("is a line each, and forgetting changes no row", () => {
    const recalled: Body = {
      type: "memory.recalled",
      told: [{ ref: "m_0000000000000001", text: "High water at six.", by: ["words"] }],
      dead: [],
      label: { integrity: "person", confidentiality: "private", typed: false },
    };
    const before = tell(opened, recalled, said("Go"));
    expect(before.items.map((item) => item.kind)).toEqual(["opened", "line", "said"]);
    const after = took(before, [next(before, { type: "content.redacted", events: [{ seq: 3, commitment: "" }] })]);
    expect(after.row).toEqual(before.row);
    expect(after.items.at(-1)).toMatchObject({ kind: "line", body: { type: "content.redacted" } });
  });
});
