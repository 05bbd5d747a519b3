"""What is run inside a page to read it and to find what is to be clicked: text of scripts, and nothing else.

Layer: machines, runner. Standard library only. The scripts run in a world of their own, whose built-in functions a page
cannot replace; the document they share with it. What they give back is a hostile page's word all the same.
"""

from __future__ import annotations

import json

LONGEST_TEXT = 400_000
"""Characters of a page's text; what comes after them is left out, and that is said."""
LONGEST_LABEL = 80

_READ = """
((MOST, LABEL, WITHIN) => {
  const END = performance.now() + WITHIN;
  const BLOCK = /^(block|flex|grid|table|list-item|flow-root|table-row|table-caption)$/;
  const APART = /^(h[1-6]|p|[uod]l|pre|blockquote|table|form|section|article|header|footer|nav|main|aside|figure)$/;
  const ROLES = /^(button|link|tab|checkbox|radio|switch|menuitem|option|combobox|textbox|searchbox)$/;
  const SKIP = /^(script|style|noscript|template|svg|math|head|object|embed|canvas|video|audio)$/;
  const refs = [], out = [];
  let size = 0, hidden = 0, frames = 0, cut = false;
  const short = (text) => (text || "").replace(/[\\s\\u0000-\\u001f]+/g, " ").trim().slice(0, LABEL);
  const put = (text) => { out.push(text); size += text.length; if (size > MOST) cut = true; };
  const seen = (el, style) => {
    if (!el.checkVisibility({opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: false}))
      return false;
    if (style.display === "contents" || /^(body|html)$/.test(el.localName)) return true;
    const box = el.getBoundingClientRect();
    if (parseFloat(style.fontSize) < 2) return false;
    if (style.display !== "inline" && (box.width <= 1 || box.height <= 1) && style.overflow !== "visible")
      return false;
    return box.right + scrollX > 0 && box.bottom + scrollY > 0;
  };
  const labelled = (el) => {
    if (!el.labels || !el.labels.length) return "";
    const words = document.createTreeWalker(el.labels[0], NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest("select,textarea,button,script,style") ? 2 : 1);
    let text = "";
    while (text.length < LABEL && words.nextNode()) text += words.currentNode.data + " ";
    return short(text);
  };
  const named = (el) => short(el.innerText) || short(el.getAttribute("aria-label"))
    || labelled(el)
    || short(el.placeholder) || short((el.querySelector && el.querySelector("img[alt]") || {}).alt)
    || short(el.title) || short(el.alt) || short(el.name) || "unnamed";
  const where = (el) => {
    let url = "";
    try { url = new URL(el.href); } catch { return ""; }
    if (!/^https?:$/.test(url.protocol)) return " (" + url.protocol.slice(0, 20) + ")";
    const text = url.origin === location.origin ? url.pathname + url.search : url.href;
    return " (" + (text.length > 200 ? text.slice(0, 200) + "…" : text) + ")";
  };
  const control = (el) => {
    const kind = el.localName, role = el.getAttribute("role") || "";
    if (kind === "a" && el.hasAttribute("href")) return ["link", short(el.innerText) || named(el), where(el)];
    if (kind === "input") {
      const type = (el.type || "text").toLowerCase();
      const label = labelled(el) || short(el.placeholder)
        || short(el.getAttribute("aria-label")) || short(el.title) || short(el.name) || "unnamed";
      if (type === "hidden") return null;
      if (/^(submit|button|reset|image)$/.test(type)) return ["button", short(el.value) || named(el), ""];
      if (/^(checkbox|radio)$/.test(type)) return [type, label, el.checked ? " (on)" : " (off)"];
      if (type === "file") return ["file", label, " (files cannot be given)"];
      if (type === "password") return ["password", label, el.value ? " (filled)" : ""];
      return ["field", label, el.value ? " = " + JSON.stringify(short(el.value)) : ""];
    }
    if (kind === "textarea") return ["field", labelled(el)
      || short(el.placeholder) || short(el.getAttribute("aria-label")) || short(el.name) || "unnamed",
      el.value ? " = " + JSON.stringify(short(el.value)) : ""];
    if (kind === "select") return ["choice", labelled(el)
      || short(el.getAttribute("aria-label")) || short(el.name) || "unnamed",
      " = " + JSON.stringify(short(el.selectedOptions.length ? el.selectedOptions[0].text : "")) + " of "
      + [...el.options].slice(0, 30).map((one) => short(one.text)).join(" | ")];
    if (el.isContentEditable && !(el.parentElement && el.parentElement.isContentEditable))
      return ["field", short(el.getAttribute("aria-label")) || "text", ""];
    if (kind === "button" || kind === "summary" || ROLES.test(role) || el.hasAttribute("onclick"))
      return [role === "link" ? "link" : "button", named(el), ""];
    return null;
  };
  const walk = (node, depth) => {
    if (cut || depth > 400 || performance.now() > END) { cut = true; return; }
    if (node.nodeType === 3) {
      if (node.data.trim()) put(node.data.replace(/[\\s\\u0000-\\u001f]+/g, " "));
      return;
    }
    if (node.nodeType !== 1 || SKIP.test(node.localName)) return;
    if (node.localName === "iframe" || node.localName === "frame") { frames += 1; return; }
    if (node.localName === "br" || node.localName === "hr") { put("\\n"); return; }
    const style = getComputedStyle(node);
    if (!seen(node, style)) {
      if (node.textContent.trim()) hidden += 1;
      return;
    }
    const block = BLOCK.test(style.display) ? (APART.test(node.localName) ? "\\n\\n" : "\\u0001") : "";
    put(block);
    if (/^h[1-6]$/.test(node.localName)) put("#".repeat(+node.localName[1]) + " ");
    if (node.localName === "li") put("- ");
    const found = refs.length < 2000 ? control(node) : null;
    if (found) {
      refs.push([node, found[1]]);
      put(" [" + refs.length + " " + found[0] + ": " + found[1] + "]" + found[2] + " ");
      if (found[0] !== "link" || (node.innerText || "").trim().length <= LABEL) { put(block); return; }
    }
    for (const child of (node.shadowRoot || node).childNodes) walk(child, depth + 1);
    if (/^(td|th)$/.test(node.localName)) put(" | ");
    put(block);
  };
  if (document.body) walk(document.body, 0);
  globalThis.steadRefs = refs;
  const text = out.join("").replace(/[ \\t]+/g, " ").replace(/ ?([\\n\\u0001]) ?/g, "$1")
    .replace(/\\u0001*\\n\\u0001*/g, "\\n").replace(/\\u0001+/g, "\\n").replace(/\\n{3,}/g, "\\n\\n").trim();
  return {url: location.href, title: short(document.title), text: text.slice(0, MOST), hidden, frames, cut};
})(%s, %s, %s)
"""

_FIND = """
((ref, label, fill) => {
  const plain = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}]+/gu, "");
  const known = (globalThis.steadRefs || [])[ref - 1];
  if (!known) return {why: "there is no element " + ref};
  const [el, name] = known;
  if (!el.isConnected) return {why: "element " + ref + " is no longer in the page"};
  if (plain(name) !== plain(label)) return {why: "element " + ref + " is " + JSON.stringify(name)};
  if (el.disabled) return {why: JSON.stringify(name) + " is disabled"};
  if (el.type === "file") return {why: "files cannot be given to a page"};
  if (fill !== null && el.localName === "select") {
    const option = [...el.options].find((one) => one.text.trim() === fill.trim() || one.value === fill);
    if (!option) return {why: JSON.stringify(name) + " has no choice " + JSON.stringify(fill)};
    el.value = option.value;
    for (const kind of ["input", "change"]) el.dispatchEvent(new Event(kind, {bubbles: true}));
    el.focus();
    return {done: true};
  }
  if (fill !== null && !(/^(input|textarea)$/.test(el.localName) || el.isContentEditable))
    return {why: JSON.stringify(name) + " takes no text"};
  if (fill !== null && /^(date|time|month|week|datetime-local|range|color|number)$/.test(el.type)) {
    const old = el.value;
    el.value = fill;
    if (el.value !== fill) {
      el.value = old;
      return {why: JSON.stringify(name) + " does not take " + JSON.stringify(fill)};
    }
    for (const kind of ["input", "change"]) el.dispatchEvent(new Event(kind, {bubbles: true}));
    el.focus();
    return {done: true};
  }
  el.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
  const box = el.getClientRects()[0];
  if (!box) return {why: JSON.stringify(name) + " is not shown now"};
  const x = box.x + box.width / 2, y = box.y + box.height / 2;
  if (fill !== null) {
    el.focus();
    if (el.select) el.select(); else getSelection().selectAllChildren(el);
    return {typed: true};
  }
  let hit = document.elementFromPoint(x, y);
  while (hit && hit.shadowRoot && hit.shadowRoot.elementFromPoint(x, y) !== hit
    && hit.shadowRoot.elementFromPoint(x, y)) hit = hit.shadowRoot.elementFromPoint(x, y);
  const label_of = hit && hit.closest("label");
  if (!hit || !(el.contains(hit) || (label_of && label_of.control === el)))
    return {why: JSON.stringify(name) + " is covered by something else"};
  return {x, y};
})(%s, %s, %s)
"""


def read(within_ms: int) -> str:
    """A script that gives the page as text: what a person would see, with every link, button and field numbered.

    Args:
        within_ms: how long it may look; what it has not seen by then is left out, and that is said.
    """
    return _READ % (LONGEST_TEXT, LONGEST_LABEL, within_ms)


def find(ref: int, label: str, text: str | None) -> str:
    """A script that finds an element by the number and the name under which it was shown, ready to be worked.

    Args:
        ref: its number.
        label: its name; another one now means that the page has changed, and nothing is done.
        text: what is to be filled in; nothing for a click.
    """
    return _FIND % (json.dumps(ref), json.dumps(label), json.dumps(text))
