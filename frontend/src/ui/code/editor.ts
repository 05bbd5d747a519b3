/** A reader of code: CodeMirror that changes nothing. */
import { codeFolding, foldGutter, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { t } from "@/i18n/en/code";
import { NAMES } from "../reveal";
import { ink } from "./ink";
import { languageOf } from "./languages";
import { frame } from "./look";

// What reveal.ts takes for hidden, but for tabs: highlightSpecialChars knows controls, not all that has no glyph.
const HIDING = /[\p{DI}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u2800\u3164\uffa0]/gu;

export interface Reader {
  /** Other text in the same place: what is read stays where it is. */
  show: (text: string) => void;
  wrap: (wanted: boolean) => void;
  find: () => void;
  close: () => void;
}

/** Open a text in an element. Its grammar follows when it has been fetched. */
export function openReader(parent: HTMLElement, path: string, text: string, label: string): Reader {
  const language = new Compartment();
  const wrapping = new Compartment();
  const view = new EditorView({
    parent,
    state: EditorState.create({ doc: text, extensions: [reading(label), language.of([]), wrapping.of([])] }),
  });
  let closed = false;
  const load = languageOf(path);
  // A grammar that cannot be fetched leaves plain text, which is all there; the page's own error handling has the failure.
  if (load) {
    void load().then((support) => {
      if (!closed) view.dispatch({ effects: language.reconfigure(support) });
    });
  }
  return {
    show: (next) => replace(view, next),
    wrap: (wanted) => view.dispatch({ effects: wrapping.reconfigure(wanted ? EditorView.lineWrapping : []) }),
    find: () => openSearchPanel(view),
    close: () => {
      closed = true;
      view.destroy();
    },
  };
}

function reading(label: string): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label, "aria-readonly": "true" }),
    lineNumbers(),
    foldGutter({ markerDOM }),
    codeFolding({ placeholderText: "…" }),
    highlightSpecialChars({ addSpecialChars: HIDING, render: hidden }),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of([...searchKeymap, { key: "Mod-a", run: selectAll }]),
    syntaxHighlighting(ink),
    frame,
    EditorState.phrases.of(phrases()),
  ];
}

function selectAll(view: EditorView): boolean {
  view.dispatch({ selection: { anchor: 0, head: view.state.doc.length } });
  return true;
}

/** Only what differs is put in, so that scroll, selection and folds stay. */
function replace(view: EditorView, next: string): void {
  const was = view.state.doc.toString();
  if (was === next) return;
  const most = Math.min(was.length, next.length);
  let from = 0;
  while (from < most && was.charCodeAt(from) === next.charCodeAt(from)) from += 1;
  let end = 0;
  while (end < most - from && was.charCodeAt(was.length - 1 - end) === next.charCodeAt(next.length - 1 - end)) end += 1;
  view.dispatch({ changes: { from, to: was.length - end, insert: next.slice(from, next.length - end) } });
}

function hidden(code: number): HTMLElement {
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const mark = document.createElement("span");
  mark.className = "cm-hidden-character";
  mark.textContent = `⟨${number}⟩`;
  mark.title = NAMES[number] ?? number;
  return mark;
}

function markerDOM(open: boolean): HTMLElement {
  const mark = document.createElement("span");
  mark.textContent = open ? "▾" : "▸";
  mark.title = open ? t("fold") : t("unfold");
  return mark;
}

function phrases(): Record<string, string> {
  return {
    Find: t("find"),
    next: t("next"),
    previous: t("previous"),
    all: t("all"),
    "match case": t("matchCase"),
    regexp: t("pattern"),
    "by word": t("byWord"),
    close: t("close"),
    "current match": t("currentMatch"),
    "on line": t("onLine"),
    "Go to line": t("goToLine"),
    go: t("go"),
    "Folded lines": t("foldedLines"),
    "Unfolded lines": t("unfoldedLines"),
    "folded code": t("foldedCode"),
    unfold: t("unfold"),
    to: t("to"),
  };
}
