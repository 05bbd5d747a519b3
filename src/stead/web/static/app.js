// The shell: signing in, what is on the page, and who is told when something happens.

import { get, list, post } from "./api.js";
import { Board } from "./board.js";
import { fill, h, say } from "./dom.js";
import { Live } from "./live.js";
import { ObjectivePage } from "./objective.js";

const main = document.getElementById("main");
const REFRESH_MS = 150;
const QUESTIONS = /^approval\./;

class App {
  constructor() {
    this.status = null;
    this.board = new Board({ onRow: (id) => this.freshen(id), onTold: () => this.readQuestions() });
    this.page = null;
    this.stale = new Set();
    this.timer = 0;
    this.live = new Live({
      onEvents: (envelopes) => this.happened(envelopes),
      onPill: (state, behind) => this.pill(state, behind),
      onReset: () => this.open(),
      onBuild: () => this.notice("build", "Stead was updated.", h("button", { type: "button", class: "plain", onclick: () => location.reload() }, "Reload the page")),
      onTrouble: () => this.check(),
    });
    addEventListener("hashchange", () => this.route());
    document.getElementById("sign-out").addEventListener("click", () => this.signOut());
    document.getElementById("stop-all").addEventListener("click", () => this.stopAll());
  }

  /** Begin: spend the code that the link brought, if any, and take it out of the address at once. */
  async begin() {
    const code = new URLSearchParams(location.hash.slice(1)).get("code");
    if (code) {
      history.replaceState(null, "", location.pathname);
      try {
        await post("/sign-in", { code });
      } catch (error) {
        this.signedOut(error.message);
        return;
      }
    }
    await this.open();
  }

  /** Read how things stand, then watch from there on. The place is taken first, so nothing falls between. */
  async open() {
    try {
      this.status = await get("/status");
      const [objectives, questions] = await Promise.all([list("/objectives"), list("/approvals?status=pending")]);
      this.board.show(this.status, objectives, questions);
    } catch (error) {
      this.trouble(error);
      return;
    }
    document.getElementById("sign-out").hidden = false;
    this.about();
    this.page = null;
    await this.route();
    this.count();
    this.live.start(this.status.head);
  }

  async route() {
    const id = /^#\/o\/(s_[0-9a-f]{16})$/.exec(location.hash)?.[1];
    if (!this.status) return;
    if (!id) {
      this.page = null;
      fill(main, this.board.element);
      document.title = this.title("Stead");
      return;
    }
    if (this.page?.id === id) return;
    const page = new ObjectivePage(id, { onRow: (one) => this.freshen(one) });
    this.page = page;
    fill(main, page.element);
    try {
      await page.load();
      this.placeQuestions();
      document.title = this.title(`${page.row.title} · Stead`);
      main.focus({ preventScroll: true });
      scrollTo(0, 0);
    } catch (error) {
      if (error.status === 401) this.trouble(error);
      else fill(main, h("div", { class: "blank" }, h("h1", {}, "Not here"), h("p", {}, error.message), h("p", {}, h("a", { href: "#/" }, "All objectives"))));
    }
  }

  happened(envelopes) {
    if (this.page) {
      const own = envelopes.filter((envelope) => envelope.stream === this.page.id);
      if (own.length) this.page.take(own);
    }
    for (const envelope of envelopes) {
      if (envelope.seq === undefined) continue;
      this.stale.add(QUESTIONS.test(envelope.body.type) ? "questions" : "");
      this.stale.add(envelope.stream);
      this.board.settle(envelope.body);
    }
    if (this.stale.size && !this.timer) this.timer = setTimeout(() => this.refresh(), REFRESH_MS);
  }

  /** Read again what events have made stale; once for many. */
  async refresh() {
    const stale = [...this.stale];
    this.stale.clear();
    this.timer = 0;
    try {
      if (stale.includes("questions")) await this.readQuestions();
      for (const id of stale.filter((one) => one.startsWith("s_"))) await this.readRow(id);
      if (stale.includes("home")) {
        this.status = await get("/status");
        this.board.showStatus(this.status);
        this.about();
      }
    } catch (error) {
      this.trouble(error);
    }
    this.count();
  }

  async readRow(id) {
    try {
      const row = await get(`/objectives/${id}`);
      if (row.kind === "objective") this.board.put(row);
      if (this.page?.id === id) this.page.show(row);
    } catch (error) {
      if (error.status !== 404) throw error;
      this.board.drop(id);
      if (this.page?.id === id) location.hash = "#/";
    }
  }

  async readQuestions() {
    const fresh = this.board.ask(await list("/approvals?status=pending"));
    for (const question of fresh) say(`A question waits: ${question.element.querySelector("h3").textContent}`);
    this.placeQuestions();
    this.count();
  }

  /** An objective's questions stand on its own page while that is open, else on the board. */
  placeQuestions() {
    this.board.place(this.page?.id, this.page?.questions);
  }

  freshen(id) {
    this.stale.add(id);
    this.stale.add("questions");
    if (!this.timer) this.timer = setTimeout(() => this.refresh(), REFRESH_MS);
  }

  count() {
    const waiting = this.board.waiting;
    const waits = document.getElementById("waits");
    waits.hidden = !this.status;
    waits.classList.toggle("some", waiting > 0);
    fill(waits, waiting === 0 ? "Nothing waits for you" : `${waiting} ${waiting === 1 ? "waits" : "wait"} for you`);
    document.getElementById("stop-all").hidden = !this.board.busy;
    document.title = this.title(document.title.replace(/^\(\d+\) /, ""));
  }

  title(text) {
    return this.board.waiting ? `(${this.board.waiting}) ${text}` : text;
  }

  pill(state, behind = 0) {
    const pill = document.getElementById("pill");
    const text = state === "catching up" ? `catching up (${behind})` : state;
    if (pill.textContent === text) return;
    pill.hidden = false;
    pill.className = `pill ${state.replace(" ", "-")}`;
    fill(pill, text);
    document.body.classList.toggle("stale", state === "offline");
  }

  about() {
    fill(document.getElementById("foot"), `Stead ${this.status.version}`);
  }

  notice(id, ...what) {
    const place = document.getElementById("notices");
    place.querySelector(`[data-id="${id}"]`)?.remove();
    place.append(h("div", { class: "notice", "data-id": id, role: "status" }, ...what.flatMap((part) => [part, " "])));
  }

  /** Why a connection could not be made: the daemon is away, or this browser is signed out. */
  async check() {
    try {
      await get("/status");
    } catch (error) {
      if (error.status === 401) this.signedOut();
    }
  }

  trouble(error) {
    if (error.status === 401) this.signedOut();
    else if (this.status) this.notice("trouble", error.message);
    else fill(main, h("div", { class: "blank" }, h("h1", {}, "Stead does not answer"), h("p", {}, error.message),
      h("button", { type: "button", class: "primary", onclick: () => this.open() }, "Try again")));
  }

  signedOut(why = "") {
    this.live.stop();
    this.status = null;
    for (const id of ["waits", "pill", "stop-all", "sign-out"]) document.getElementById(id).hidden = true;
    fill(document.getElementById("foot"));
    fill(document.getElementById("notices"));
    document.title = "Stead";
    fill(main, h("div", { class: "blank" },
      h("h1", {}, "This browser is not signed in"),
      why && h("p", { class: "problem", role: "alert" }, why),
      h("p", {}, "On the machine where Stead runs, type"),
      h("pre", { class: "exact" }, "stead open"),
      h("p", {}, "It opens this page with a link that works once, within ten minutes. There is no password.")));
  }

  async signOut() {
    try {
      await post("/sign-out");
    } finally {
      this.signedOut();
    }
  }

  async stopAll() {
    try {
      await post("/stop", { why: "stopped on the page" });
    } catch (error) {
      this.trouble(error);
    }
  }
}

await new App().begin();
