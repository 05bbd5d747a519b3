// Watching: one WebSocket that comes back by itself and goes on after the last event it saw. It only listens.

const FIRST_DELAY_MS = 300;
const LAST_DELAY_MS = 8000;

export class Live {
  /**
   * @param handlers  onEvents(envelopes) in order, each once; onPill(state, behind); onReset() when what was read is void;
   *                  onBuild() when the daemon is newer than this page; onTrouble() when a connection cannot be made.
   */
  constructor(handlers) {
    this.handlers = handlers;
    this.after = 0;
    this.epoch = null;
    this.build = null;
    this.delay = FIRST_DELAY_MS;
    this.timer = 0;
    this.socket = null;
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => document.hidden || this.retry());
  }

  start(after) {
    this.stop();
    this.after = after;
    this.connect();
  }

  stop() {
    clearTimeout(this.timer);
    if (this.socket) {
      this.socket.onclose = null;
      this.socket.close();
    }
    this.socket = null;
  }

  retry() {
    if (this.timer) {
      clearTimeout(this.timer);
      this.connect();
    }
  }

  connect() {
    this.timer = 0;
    this.target = Infinity;
    const socket = new WebSocket(`ws://${location.host}/api/v1/live?after=${this.after}`);
    this.socket = socket;
    socket.onmessage = (message) => this.take(JSON.parse(message.data));
    socket.onclose = () => {
      this.handlers.onPill("offline");
      this.timer = setTimeout(() => this.connect(), this.delay * (0.75 + Math.random() / 2));
      this.delay = Math.min(this.delay * 2, LAST_DELAY_MS);
      this.handlers.onTrouble();
    };
  }

  take(frame) {
    const fresh = [];
    for (const envelope of frame) {
      if (envelope.body.type === "hello") {
        this.greet(envelope.body);
      } else if (envelope.body.type === "reset") {
        this.handlers.onReset();
        return;
      } else if (envelope.seq === undefined) {
        fresh.push(envelope);
      } else if (envelope.seq > this.after) {
        this.after = envelope.seq;
        fresh.push(envelope);
      }
    }
    if (fresh.length) this.handlers.onEvents(fresh);
    const behind = Math.max(0, this.target - this.after);
    this.handlers.onPill(behind ? "catching up" : "live", behind);
  }

  greet(hello) {
    this.delay = FIRST_DELAY_MS;
    this.target = hello.head_seq;
    if (this.build !== null && this.build !== hello.build) this.handlers.onBuild();
    this.build = hello.build;
    if (this.epoch !== null && this.epoch !== hello.epoch) {
      this.epoch = hello.epoch;
      this.handlers.onReset();
    }
    this.epoch = hello.epoch;
  }
}
