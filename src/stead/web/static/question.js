// A question to the person: what would run, exactly, why it is asked, and the answers. The page never moves the focus to
// an answer, so nothing is allowed by an Enter that was meant for something else; what is risky rests a moment first.

import { post } from "./api.js";
import { fill, h, say, visible, when } from "./dom.js";

const REST_MS = 1200;
const RISKY = new Set(["high", "critical"]);
const VERBS = {
  shell: "Run a shell command",
  write: "Write a file",
  edit: "Edit a file",
  read: "Read a file",
  fetch: "Fetch a page",
};
const SETTLED = { given: "Allowed", denied: "Denied", lapsed: "No longer open" };

export class Question {
  /** @param row  the approval as the API shows it. */
  constructor(row, { onTold }) {
    this.row = row;
    this.onTold = onTold;
    this.sending = false;
    this.outcome = h("p", { class: "outcome", role: "status" });
    this.reason = h("input", { type: "text", id: `why-${row.id}`, maxlength: "2000", autocomplete: "off" });
    this.buttons = this.makeButtons();
    this.answers = h("div", { class: "answers" },
      h("div", { class: "deny" },
        h("label", { for: `why-${row.id}` }, "Reason, if you deny (the model reads it)"),
        this.reason),
      h("div", { class: "row" }, Object.values(this.buttons)));
    this.element = h("article", { class: `question risk-${row.risk}`, "aria-labelledby": `q-${row.id}` },
      h("h3", { id: `q-${row.id}` }, sentence(row)),
      h("p", { class: "about" }, "for ", h("a", { href: `#/o/${row.session}` }, row.title), " · asked ", when(row.requested_ms),
        " · lapses ", when(row.expires_at_ms)),
      shown(row),
      h("dl", { class: "facts" },
        h("dt", {}, "Why it asks"), h("dd", {}, row.reason, " ", h("code", {}, row.rule)),
        row.origins.map((origin) => [h("dt", {}, `Its ${visible(origin.argument)}`), h("dd", {}, whence(origin))]),
        row.sources.length && !doubtful(row).length
          ? [h("dt", {}, "Has read"), h("dd", {}, `${row.sources.map(named).join(", ")} (untrusted)`)] : [],
        row.shape ? [h("dt", {}, "Session"), h("dd", {}, `A yes for the session covers ${covered(row.shape)}.`)] : [],
        h("dt", {}, "Risk"), h("dd", {}, h("span", { class: `risk ${row.risk}` }, row.risk)),
        h("dt", {}, "Where"), h("dd", {}, h("code", {}, row.directory)),
        h("dt", {}, "Digest"), h("dd", {}, h("code", { title: row.digest }, row.digest.slice(0, 16)))),
      this.answers,
      this.outcome);
    this.rest();
  }

  get open() {
    return this.row.status === "pending";
  }

  makeButtons() {
    const button = (answer, kind, text) => h("button", { type: "button", class: kind, onclick: () => this.answer(answer) }, text);
    const buttons = { deny: button("deny", "plain", "Deny") };
    const sources = doubtful(this.row).map(named).join(", ");
    if (sources) buttons.trust = button("trust", "plain", `Allow, and trust ${sources} here`);
    if (this.row.shape) buttons.session = button("session", "plain", "Allow for this session");
    buttons.once = button("once", "primary", "Allow once");
    return buttons;
  }

  /** Let nobody allow something risky in the moment in which it appears under the pointer. */
  rest() {
    if (!RISKY.has(this.row.risk)) return;
    const allowing = [this.buttons.trust, this.buttons.session, this.buttons.once].filter(Boolean);
    for (const button of allowing) button.disabled = true;
    setTimeout(() => this.sending || allowing.forEach((button) => (button.disabled = false)), REST_MS);
  }

  async answer(answer) {
    if (this.sending || !this.open) return;
    this.lock(true);
    fill(this.outcome, "Sending your answer…");
    try {
      const reason = answer === "deny" ? this.reason.value : "";
      await post(`/approvals/${this.row.id}/decision`, { answer, digest: this.row.digest, reason });
      this.settle(answer === "deny" ? "denied" : "given", "web");
    } catch (error) {
      this.lock(false);
      fill(this.outcome, error.message);
      say(error.message);
      if (error.status === 409) this.onTold();
    }
  }

  lock(locked) {
    this.sending = locked;
    for (const button of Object.values(this.buttons)) button.disabled = locked;
  }

  /** It is answered, here or by another door. */
  settle(status, door) {
    if (!this.open) return;
    this.row = { ...this.row, status, door };
    const by = { web: "here", cli: "at the command line", "": "" }[door] ?? `by ${visible(door)}`;
    const text = `${SETTLED[status]} ${by}`.trim() + ".";
    this.answers.remove();
    this.element.classList.add("settled");
    fill(this.outcome, text);
    say(text);
  }
}

/** The untrusted sources that hold one of the call's arguments: what trusting them would change something about. */
function doubtful(row) {
  return [...new Set(row.origins.map((origin) => origin.source).filter(Boolean))];
}

/** A source in words. */
function named(source) {
  if (source === "workspace") return "files of this folder";
  const [kind, ...rest] = source.split(":");
  const words = { web: "pages of", message: "a message from" }[kind];
  return visible(words && rest.length ? `${words} ${rest.join(":")}` : source);
}

/** Where a value came from, in words. */
function whence(origin) {
  if (origin.integrity === "person") return "comes from your own words";
  if (origin.integrity === "trusted") return "comes from a source that is trusted";
  if (origin.source) return `comes from ${named(origin.source)} (untrusted)`;
  return "comes from the model itself: neither you nor anything it read names it";
}

/** What a lasting yes covers, by the kind of its shape; a shape of no kind is that of one call. */
function covered(shape) {
  if (shape === "any") return "every call of this tool";
  if (shape === "changes") return "commands that only change files here, in plain ways";
  if (shape.startsWith("shell:")) return `this command again: ${visible(shape.slice(6))}`;
  if (shape.startsWith("net:")) return `this command again, with its hosts: ${visible(shape.slice(4))}`;
  if (shape.startsWith("host:")) return `every request to ${visible(shape.slice(5))}`;
  return "this very call again";
}

function sentence(row) {
  return `${VERBS[row.tool] ?? `Use the tool ${row.tool}`} in ${row.directory.split("/").filter(Boolean).pop() ?? "/"}`;
}

/** What would run. A command as it is, anything else argument by argument. */
export function shown(row) {
  let given;
  try {
    given = JSON.parse(row.arguments);
  } catch {
    given = null;
  }
  if (given === null || typeof given !== "object") return h("pre", { class: "exact", tabindex: "0" }, row.arguments);
  const rest = Object.entries(given);
  if (rest.length === 1 && typeof rest[0][1] === "string") return h("pre", { class: "exact", tabindex: "0" }, rest[0][1]);
  return h("dl", { class: "arguments" }, rest.map(([name, value]) => [
    h("dt", {}, name),
    h("dd", {}, typeof value === "string"
      ? h("pre", { class: "exact", tabindex: "0" }, value)
      : h("code", {}, visible(JSON.stringify(value)))),
  ]));
}
