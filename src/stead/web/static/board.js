// The first page, in the order in which it is looked at: what waits for the person, what runs, a new goal, what was.

import { get, post } from "./api.js";
import { fill, h } from "./dom.js";
import { isOpen, listed } from "./objective.js";
import { Question } from "./question.js";

const SETTLING = { "approval.given": "given", "approval.denied": "denied", "approval.lapsed": "lapsed" };
const KEPT_ENDED = 50;
const FADE_MS = 8000;

export class Board {
  constructor({ onRow, onTold }) {
    this.onRow = onRow;
    this.onTold = onTold;
    this.rows = new Map();
    this.questions = new Map();
    this.banner = h("div", { class: "readiness" });
    this.asked = h("div", { class: "questions" });
    this.nothing = h("p", { class: "hint" }, "Nothing. When something needs your word, it stands here.");
    this.open = h("ul", { class: "objectives" });
    this.ended = h("ul", { class: "objectives" });
    this.form = this.makeForm();
    const section = (id, title, ...inside) => h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...inside);
    this.before = section("before", "What happened before", this.ended);
    this.element = h("div", { class: "board" },
      h("h1", { class: "unseen" }, "Stead"),
      this.banner,
      section("waiting", "Waiting for you", this.nothing, this.asked),
      section("running", "Under way", this.open),
      section("new", "A new goal", this.form),
      this.before);
  }

  get waiting() {
    return [...this.questions.values()].filter((question) => question.open).length;
  }

  get busy() {
    return [...this.rows.values()].some((row) => ["pending", "running", "waiting"].includes(row.status));
  }

  show(status, rows, questions) {
    this.rows = new Map(rows.map((row) => [row.id, row]));
    this.showStatus(status);
    this.draw();
    this.ask(questions);
    this.place();
    const directory = this.form.elements.directory;
    if (!directory.value && rows.length) directory.value = rows[0].directory;
  }

  showStatus({ chain, rehearsal, isolation }) {
    const model = chain.map((ref) => `${ref.provider}/${ref.model}`).join(", then ");
    fill(this.banner,
      rehearsal && h("p", { class: "notice" }, h("strong", {}, "Rehearsal. "),
        "No model is connected: a small built-in grammar of tasks answers, offline, and it is not intelligent. Connect one with ",
        h("code", {}, "stead providers add"), "."),
      !isolation.available && h("p", { class: "notice bad" }, h("strong", {}, "No sandbox. "),
        "Shell and code are off. ", isolation.missing.join("; ")),
      h("p", { class: "hint" }, "Model ", h("code", {}, model), isolation.available && ` · ${isolation.statement}`));
  }

  put(row) {
    const known = this.rows.has(row.id);
    this.rows = known ? this.rows.set(row.id, row) : new Map([[row.id, row], ...this.rows]);
    this.draw();
  }

  drop(id) {
    this.rows.delete(id);
    this.draw();
  }

  draw() {
    const rows = [...this.rows.values()];
    const open = rows.filter(isOpen);
    const ended = rows.filter((row) => !isOpen(row)).sort((one, other) => other.ended_ms - one.ended_ms);
    fill(this.open, open.length ? open.map(listed) : h("li", { class: "hint" }, "Nothing is under way. Give a goal below, or with ", h("code", {}, "stead run"), "."));
    fill(this.ended, ended.slice(0, KEPT_ENDED).map(listed));
    this.before.hidden = !ended.length;
  }

  /** Show these open questions; gives those that are new. One that is gone was answered elsewhere. */
  ask(rows) {
    const fresh = [];
    for (const row of rows) {
      if (this.questions.has(row.id)) continue;
      const question = new Question(row, { onTold: this.onTold });
      this.questions.set(row.id, question);
      fresh.push(question);
    }
    const open = new Set(rows.map((row) => row.id));
    for (const [id, question] of this.questions) if (!open.has(id)) this.close(id, question);
    this.nothing.hidden = this.waiting > 0;
    return fresh;
  }

  /** An event that may settle a question. */
  settle(body) {
    const status = SETTLING[body.type];
    const question = status && this.questions.get(body.id);
    if (question) question.settle(status, body.door ?? "");
  }

  /** A question that is not open any more says so for a while, then makes room. */
  async close(id, question) {
    if (question.leaving) return;
    question.leaving = true;
    if (question.open) {
      try {
        const row = await get(`/approvals/${id}`);
        question.settle(row.status === "pending" ? "lapsed" : row.status, row.door);
      } catch {
        question.settle("lapsed", "");
      }
    }
    this.nothing.hidden = this.waiting > 0;
    setTimeout(() => {
      question.element.remove();
      this.questions.delete(id);
    }, FADE_MS);
  }

  /** Put each question where it belongs: those of the objective that is open onto its page, all others here. */
  place(session, there) {
    for (const question of this.questions.values()) {
      const home = session && question.row.session === session ? there : this.asked;
      if (question.element.parentElement !== home) home.append(question.element);
    }
  }

  makeForm() {
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const send = h("button", { type: "submit", class: "primary" }, "Give the goal");
    const submit = async (event) => {
      event.preventDefault();
      problem.hidden = true;
      send.disabled = true;
      try {
        const { session } = await post("/objectives", wish(form.elements));
        form.elements.goal.value = "";
        this.onRow(session);
        location.hash = `#/o/${session}`;
      } catch (error) {
        problem.hidden = false;
        fill(problem, error.message);
      } finally {
        send.disabled = false;
      }
    };
    const field = (name, label, control, hint) => h("div", { class: `field ${name}` },
      h("label", { for: `new-${name}` }, label), control, hint && h("p", { class: "hint", id: `hint-${name}` }, hint));
    const form = h("form", { class: "new", onsubmit: submit },
      field("goal", "What is to be reached", h("textarea", { id: "new-goal", name: "goal", rows: "3", required: true })),
      field("directory", "Folder", h("input", { id: "new-directory", name: "directory", required: true, spellcheck: "false", autocomplete: "off", "aria-describedby": "hint-directory" }),
        "Its whole path, on the machine where Stead runs. The agent sees this folder and nothing else."),
      field("tokens", "Token budget", h("input", { id: "new-tokens", name: "tokens", type: "number", min: "1", step: "1", value: "400000", "aria-describedby": "hint-tokens" }),
        "A hard stop; empty for none."),
      field("dollars", "Money budget, $", h("input", { id: "new-dollars", name: "dollars", type: "number", min: "0.01", step: "0.01", value: "5", "aria-describedby": "hint-dollars" }),
        "A hard stop; empty for none."),
      h("div", { class: "row" }, send),
      problem);
    return form;
  }
}

function wish({ goal, directory, tokens, dollars }) {
  const figure = (field, scale) => (field.value === "" ? "unlimited" : Math.round(Number(field.value) * scale));
  return {
    goal: goal.value,
    directory: directory.value.trim(),
    budget: { tokens: figure(tokens, 1), usd_micros: figure(dollars, 1e6) },
  };
}
