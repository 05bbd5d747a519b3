// One objective's history: its events, folded into one line a step, the newest below. A line opens in place.

import { fill, h, number, span, visible, when } from "./dom.js";

const SHOWN = 200;
const KEPT_CHARS = 20_000;

export class Timeline {
  constructor() {
    this.steps = new Map();
    this.requests = new Map();
    this.streamed = new Map();
    this.more = h("button", { type: "button", class: "plain", hidden: true, onclick: () => this.showAll() });
    this.listing = h("ol", { class: "steps" });
    this.element = h("div", {}, this.more, this.listing);
    this.limit = SHOWN;
  }

  /** Take in what happened, in order. */
  take(envelopes) {
    const changed = new Set();
    for (const envelope of envelopes) {
      const step = this.fold(envelope);
      if (step) changed.add(step);
    }
    for (const step of changed) this.draw(step);
    this.trim();
  }

  fold(envelope) {
    const { body, ts, seq } = envelope;
    const line = (verb, text, kind = "") => this.step(`e${seq}`, { ts, verb, text, kind });
    switch (body.type) {
      case "objective.created": return line("Goal given", body.title);
      case "message.received": return line("You said", body.text, "person");
      case "notice.given": return line("Stead noted", body.text);
      case "plan.made": return line("Plan", body.steps.map((one) => one.title).join(" · "));
      case "model.requested": return this.request(body.number, { ts, verb: "Thinking", text: "", running: true });
      case "text.delta": return this.stream(this.requests.get(body.number), body);
      case "model.replied": return this.reply(body, ts);
      case "model.failed":
        return this.request(body.number, { verb: "Model failed", text: body.error, kind: "bad", running: false });
      case "reading.requested":
      case "reading.replied": return undefined; // parts of a call, which shows what came of them
      case "reading.failed": return line("Not read", body.error, "bad");
      case "call.judged":
        return this.call(body.key, body.verdict === "allow" ? { note: "" } : {
          note: `${body.verdict === "ask" ? "Asked" : "Denied"}: ${body.reason.text} (${body.reason.rule})`,
        });
      case "approval.requested": return this.call(body.key, { ts, verb: body.tool, mark: "asking", input: body.arguments });
      case "approval.given": return this.call(body.key, { mark: "allowed" });
      case "approval.denied": return this.call(body.key, { mark: "denied", said: body.reason });
      case "approval.lapsed": return this.call(body.key, { mark: `question ${body.why}` });
      case "tool.started":
        return this.call(body.key, { verb: body.tool, input: body.arguments, mark: "running", running: true });
      case "tool.reopened": return this.call(body.key, { mark: "again", running: false });
      case "output.delta": return this.stream(this.steps.get(body.key), body);
      case "tool.finished": return this.finish(body);
      case "grant.made": return line("Granted", `${body.tool}, for this ${body.scope}`);
      case "sources.trusted": return line("Trusted", `${body.sources.join(", ")}, for ${body.tool}`);
      case "grant.revoked": return line("Grant taken back", body.tool);
      case "session.paused": return line("Paused", body.why);
      case "session.resumed": return line("Resumed", "");
      case "session.stopped": return line("Stopped", body.why, "bad");
      case "objective.ended": return line(`Ended: ${body.status}`, body.summary || body.reason, body.status === "completed" ? "good" : "bad");
      case "objective.retried": return line("Tried again", "");
      case "machine.started": return line("Sandbox started", body.isolation);
      case "machine.ended": return line("Sandbox ended", body.why);
      case "session.deleted": return line("Deleted", "its content is erased");
      case "erased": return line("Erased", body.was);
      case "presence":
      case "progress": return undefined; // of sessions, which this page does not show
      default: return line(body.type, "");
    }
  }

  step(key, facts) {
    let step = this.steps.get(key);
    if (!step) {
      step = { key, verb: "", text: "", kind: "", mark: "", note: "", said: "", input: "", output: "", running: false, coming: false, ts: 0 };
      step.line = h("span", { class: "line" });
      step.inner = h("div", { class: "inner" });
      step.box = h("details", {}, h("summary", {}, step.line), step.inner);
      step.element = h("li", {}, step.box);
      this.steps.set(key, step);
      this.listing.append(step.element);
    }
    return Object.assign(step, facts);
  }

  request(no, facts) {
    const step = this.step(`r${no}`, facts);
    this.requests.set(no, step);
    return step;
  }

  call(key, facts) {
    return this.step(key, facts);
  }

  reply(body, ts) {
    const said = body.parts.filter((part) => part.type === "text").map((part) => part.text).join("\n").trim();
    for (const part of body.parts) {
      if (part.type === "call") this.draw(this.call(part.key, { ts, verb: part.tool, input: part.arguments }));
    }
    const cost = `${number.format(body.usage.input)} in, ${number.format(body.usage.output)} out`;
    const calls = body.parts.filter((part) => part.type === "call").length;
    return this.request(body.number, {
      verb: "Answered",
      text: said || (calls ? `asks for ${calls} ${calls === 1 ? "call" : "calls"}` : "nothing"),
      output: "",
      running: false,
      mark: `${span(body.duration_ms)} · ${cost}`,
    });
  }

  finish(body) {
    this.call(body.key, { warnings: (body.warnings ?? []).map((found) => found.text) });
    const kind = { ok: "", error: "bad", denied: "bad", unknown: "bad", cancelled: "bad" }[body.outcome];
    const mark = body.outcome === "ok" ? span(body.duration_ms) : body.outcome === "unknown" ? "outcome unknown" : body.outcome;
    return this.call(body.key, { verb: body.tool, mark, kind, output: body.text, running: false });
  }

  /** A piece of something under way. One that belongs to what has ended meanwhile is late, and dropped. */
  stream(step, { offset, text }) {
    if (!step?.running) return null;
    step.output = (step.output.slice(0, offset) + text).slice(-KEPT_CHARS);
    return step;
  }

  draw(step) {
    step.element.className = `step ${step.kind} ${step.running ? "running" : ""}`;
    fill(step.line,
      h("span", { class: "verb" }, step.verb),
      h("span", { class: "object" }, short(step.text || subject(step.input) || step.output)),
      h("span", { class: "mark" }, step.warnings?.length ? "look inside · " : null,
        step.mark, step.mark && step.ts ? " · " : null, step.ts ? when(step.ts) : null));
    fill(step.inner,
      step.note && h("p", {}, step.note),
      step.said && h("p", {}, `You said: ${step.said}`),
      step.warnings?.map((text) => h("p", { class: "problem" }, text)),
      step.text && h("pre", { tabindex: "0" }, step.text),
      step.input && [h("h4", {}, "Input"), h("pre", { tabindex: "0" }, pretty(step.input))],
      step.output && [h("h4", {}, "Output"), h("pre", { tabindex: "0" }, step.output)]);
    // What comes in is shown while it comes; what the person opened stays open.
    const coming = step.running && Boolean(step.output);
    if (coming !== step.coming) step.box.open = coming;
    step.coming = coming;
  }

  /** Keep the page light: only the last lines stand in it until somebody wants all. */
  trim() {
    const lines = this.listing.children;
    const hidden = Math.max(0, lines.length - this.limit);
    for (let place = 0; place < lines.length; place++) lines[place].hidden = place < hidden;
    this.more.hidden = hidden === 0;
    fill(this.more, `Show ${hidden} earlier ${hidden === 1 ? "step" : "steps"}`);
  }

  showAll() {
    this.limit = Infinity;
    this.trim();
  }
}

function short(text) {
  const line = visible(text).split("\n").find((one) => one.trim()) ?? "";
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

/** What a call is about: its one telling argument. */
function subject(input) {
  const given = parse(input);
  if (given === null) return input;
  return ["command", "path", "url", "pattern"].map((name) => given[name]).find((value) => typeof value === "string") ?? "";
}

function pretty(input) {
  const given = parse(input);
  return given === null ? input : JSON.stringify(given, null, 2);
}

function parse(input) {
  try {
    const given = JSON.parse(input);
    return given && typeof given === "object" ? given : null;
  } catch {
    return null;
  }
}
