// Building the page. Everything that is shown goes through a text node: nothing that a model, a tool or a file said is
// ever read as markup, and what would be invisible or would reorder a line is spelled out.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Text with its invisible and direction-changing characters spelled out. */
export function visible(text) {
  return String(text).replace(HIDDEN, (mark) => `\\u{${mark.charCodeAt(0).toString(16)}}`);
}

/** An element. `props`: attributes; `on…` functions become listeners; `class` and `hidden` as in HTML. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  fill(element, ...children);
  return element;
}

/** Replace what an element holds. Strings become text. */
export function fill(element, ...children) {
  const parts = children.flat(3).filter((child) => child !== null && child !== undefined && child !== false);
  element.replaceChildren(...parts.map((part) => (part instanceof Node ? part : visible(part))));
  return element;
}

/** Tell people who listen instead of look. */
export function say(text) {
  fill(document.getElementById("say"), text);
}

export const number = new Intl.NumberFormat();
export const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

/** Millionths of a dollar as money. */
export function money(micros) {
  const dollars = micros / 1e6;
  return `$${dollars.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: dollars < 1 ? 4 : 2 })}`;
}

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];

/** A time as people say it, with the exact one behind it. */
export function when(ms) {
  const seconds = Math.round((ms - Date.now()) / 1000);
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  const text = unit ? RELATIVE.format(Math.round(seconds / unit[1]), unit[0]) : seconds > 0 ? "in a moment" : "just now";
  return h("time", { datetime: new Date(ms).toISOString(), title: new Date(ms).toLocaleString() }, text);
}

/** A duration as people say it. */
export function span(ms) {
  if (ms < 1000) return `${ms} ms`;
  const seconds = ms / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

const SHAPES = { pending: "○", running: "●", waiting: "◆", paused: "❙❙", completed: "✓", failed: "✕", cancelled: "–" };

/** A status as a word and a shape; colour is never the only sign. */
export function state(status) {
  return h("span", { class: `state ${status}` }, h("span", { "aria-hidden": "true" }, SHAPES[status] ?? "·"), " ", status);
}
