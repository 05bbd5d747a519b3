// An objective: as a row of the list, and as a page with its plan, its timeline and its controls.

import { get, post } from "./api.js";
import { compact, fill, h, money, number, say, state, when } from "./dom.js";
import { Timeline } from "./timeline.js";

const OPEN = new Set(["pending", "running", "waiting", "paused"]);
const PLAN = { todo: ["○", "to do"], doing: ["●", "doing"], done: ["✓", "done"], skipped: ["–", "skipped"] };

/** Whether something can still happen in it. */
export const isOpen = (row) => OPEN.has(row.status);

/** A row of the list. */
export function listed(row) {
  const done = row.plan.filter((step) => step.status === "done").length;
  return h("li", { class: "objective" },
    h("a", { href: `#/o/${row.id}`, class: "title" }, row.title),
    state(row.status),
    h("span", { class: "where" }, row.directory),
    h("span", { class: "progress" }, row.plan.length ? `${done} of ${row.plan.length} steps` : ""),
    spent(row, `spent on ${row.title}`, compact),
    h("span", { class: "age" }, when(row.updated_ms)));
}

/** Tokens against their budget, as a bar and in words. */
function spent(row, label, format = number) {
  const used = row.tokens_used + row.tokens_reserved;
  const limit = row.budget.tokens;
  const words = limit === "unlimited"
    ? `${format.format(used)} tokens`
    : `${format.format(used)} of ${format.format(limit)} tokens`;
  const cost = row.price_known ? money(row.usd_micros_used) : "price unknown";
  return h("span", { class: "spent" },
    limit !== "unlimited" && h("progress", { max: String(limit), value: String(Math.min(used, limit)), "aria-label": label }),
    h("span", { class: "figures" }, words, " · ", cost));
}

/** The page of one objective. */
export class ObjectivePage {
  constructor(id, { onRow }) {
    this.id = id;
    this.onRow = onRow;
    this.row = null;
    this.seen = 0;
    this.waiting = [];
    this.loaded = false;
    this.timeline = new Timeline();
    this.head = h("div", { class: "head" });
    this.side = h("aside", { class: "side", "aria-label": "Plan and budget" });
    this.questions = h("div", { class: "questions" });
    this.words = this.makeWords();
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.element = h("div", { class: "page" },
      this.head, this.problem,
      h("section", { "aria-labelledby": "asked", class: "asked" }, h("h2", { id: "asked" }, "Waiting for you"), this.questions),
      h("div", { class: "columns" },
        this.side,
        h("section", { "aria-labelledby": "timeline" }, h("h2", { id: "timeline" }, "What happened"), this.timeline.element, this.words)));
  }

  /** Read its whole history, then let what came meanwhile follow. */
  async load() {
    this.show(await get(`/objectives/${this.id}`));
    for (;;) {
      const page = await get(`/events?streams=${this.id}&after=${this.seen}&limit=500`);
      if (!page.items.length) break;
      this.seen = page.items.at(-1).seq;
      this.timeline.take(page.items);
    }
    this.loaded = true;
    this.take(this.waiting);
    this.waiting = [];
  }

  /** What is happening; the watcher's envelopes of this stream. */
  take(envelopes) {
    if (!this.loaded) {
      this.waiting.push(...envelopes);
      return;
    }
    const fresh = envelopes.filter((envelope) => envelope.seq === undefined || envelope.seq > this.seen);
    for (const envelope of fresh) this.seen = Math.max(this.seen, envelope.seq ?? 0);
    this.timeline.take(fresh);
  }

  show(row) {
    const was = this.row?.status;
    this.row = row;
    if (was && was !== row.status) say(`${row.title} is ${row.status}`);
    fill(this.head,
      h("p", { class: "back" }, h("a", { href: "#/" }, "All objectives")),
      h("h1", {}, row.title),
      h("p", { class: "meta" }, state(row.status), " · ", h("code", {}, row.directory), " · ",
        row.chain.map((ref) => `${ref.provider}/${ref.model}`).join(", then "), " · given ", when(row.created_ms)),
      this.controls(row),
      (row.summary || row.reason) && h("p", { class: "summary" }, row.summary || `Reason: ${row.reason}`));
    fill(this.side,
      h("h2", {}, "Plan"),
      row.plan.length ? h("ol", { class: "plan" }, row.plan.map(planned)) : h("p", { class: "hint" }, "No plan yet; the first thing that is done is to make one."),
      h("h2", {}, "Budget"),
      spent(row, "budget spent"),
      h("p", { class: "hint" }, `${number.format(row.iterations)} model requests`),
      h("h2", {}, "Goal"),
      h("p", { class: "goal" }, row.goal),
      row.constraints.length ? [h("h2", {}, "Constraints"), h("ul", {}, row.constraints.map((rule) => h("li", {}, rule)))] : null);
    this.words.hidden = !isOpen(row);
  }

  controls(row) {
    const button = (path, text, kind = "plain", ask = "") =>
      h("button", { type: "button", class: kind, onclick: () => (!ask || confirm(ask)) && this.tell(path) }, text);
    const buttons = [];
    if (["pending", "running", "waiting"].includes(row.status)) buttons.push(button("stop", "Stop", "stop"), button("pause", "Pause"));
    if (row.status === "paused") buttons.push(button("resume", "Resume", "primary"));
    if (isOpen(row)) buttons.push(button("cancel", "Cancel", "plain", "Cancel this objective? What is under way is killed."));
    if (["failed", "cancelled"].includes(row.status)) buttons.push(button("retry", "Try again", "primary"));
    if (!isOpen(row)) buttons.push(button("delete", "Delete", "plain", "Erase this objective's content for good?"));
    return h("div", { class: "row controls" }, buttons);
  }

  makeWords() {
    const text = h("input", { type: "text", id: "words", autocomplete: "off", maxlength: "20000" });
    const send = async (event) => {
      event.preventDefault();
      if (text.value.trim() && (await this.tell("messages", { text: text.value }))) text.value = "";
    };
    return h("form", { class: "words", onsubmit: send, hidden: true },
      h("label", { for: "words" }, "Say something; it is read before the next model request"),
      h("div", { class: "row" }, text, h("button", { type: "submit", class: "plain" }, "Send")));
  }

  async tell(path, body) {
    this.problem.hidden = true;
    try {
      await post(`/objectives/${this.id}/${path}`, body);
      this.onRow(this.id);
      return true;
    } catch (error) {
      this.problem.hidden = false;
      fill(this.problem, error.message);
      return false;
    }
  }
}

function planned(step) {
  const [shape, word] = PLAN[step.status];
  return h("li", { class: step.status }, h("span", { "aria-hidden": "true", class: "shape" }, shape), h("span", { class: "unseen" }, `${word}: `), step.title);
}
