/** How code looks: the page's own tokens, so that it follows the theme by itself. */
import { EditorView } from "@codemirror/view";

export const frame = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--text-sm)", color: "var(--color-ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.55", fontVariantLigatures: "none" },
  ".cm-content": { padding: "8px 0" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-gutters": { backgroundColor: "var(--color-paper)", color: "var(--color-ink-3)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 4px 0 12px", minWidth: "3ch" },
  ".cm-foldGutter .cm-gutterElement": { padding: "0 2px", cursor: "pointer" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "var(--color-accent-fill)",
  },
  ".cm-searchMatch": { backgroundColor: "var(--color-ask-fill)", outline: "1px solid var(--color-ask-line)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--color-ask-line)" },
  ".cm-panels": {
    backgroundColor: "var(--color-surface)",
    color: "var(--color-ink)",
    borderColor: "var(--color-line)",
  },
  ".cm-panels-top": { borderBottom: "1px solid var(--color-line)" },
  ".cm-panel.cm-search": { padding: "8px 36px 8px 12px", fontFamily: "var(--font-sans)" },
  ".cm-panel.cm-search label": {
    fontSize: "var(--text-sm)",
    display: "inline-flex",
    gap: "4px",
    alignItems: "center",
    minHeight: "24px",
  },
  ".cm-panel.cm-search [name=close]": {
    minWidth: "24px",
    minHeight: "24px",
    fontSize: "18px",
    color: "var(--color-ink-2)",
  },
  ".cm-textfield": {
    fontSize: "var(--text-sm)",
    border: "1px solid var(--color-line-strong)",
    borderRadius: "var(--radius-md)",
    backgroundColor: "var(--color-raised)",
    color: "var(--color-ink)",
    padding: "2px 8px",
  },
  ".cm-button": {
    fontSize: "var(--text-sm)",
    backgroundImage: "none",
    backgroundColor: "var(--color-raised)",
    color: "var(--color-ink)",
    border: "1px solid var(--color-line-strong)",
    borderRadius: "var(--radius-md)",
    padding: "2px 8px",
    minHeight: "24px",
  },
  ".cm-hidden-character": {
    color: "var(--color-tainted)",
    backgroundColor: "var(--color-tainted-fill)",
    boxShadow: "inset 0 0 0 1px var(--color-tainted-line)",
    borderRadius: "4px",
    padding: "0 2px",
  },
  ".cm-foldPlaceholder": {
    backgroundColor: "var(--color-surface)",
    borderColor: "var(--color-line)",
    color: "var(--color-ink-2)",
  },
});
