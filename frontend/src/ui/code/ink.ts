/** Which colour each part of code has: classes of the page's own tokens, so that they follow the theme by themselves. */
import { HighlightStyle } from "@codemirror/language";
import { tags } from "@lezer/highlight";

export const ink = HighlightStyle.define([
  { tag: tags.comment, class: "text-ink-3 italic" },
  // Signs of markup stand upright: a slanted one leaves a gap.
  { tag: tags.meta, class: "text-ink-3" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName, tags.self], class: "text-code-word" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], class: "text-code-text" },
  {
    tag: [tags.number, tags.bool, tags.null, tags.atom, tags.escape, tags.unit, tags.color],
    class: "text-code-value",
  },
  {
    tag: [tags.definition(tags.variableName), tags.function(tags.variableName), tags.definition(tags.propertyName)],
    class: "text-code-name",
  },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.attributeName], class: "text-code-name" },
  { tag: [tags.punctuation, tags.bracket, tags.separator], class: "text-ink-2" },
  { tag: tags.heading, class: "font-semibold text-ink" },
  { tag: tags.strong, class: "font-semibold" },
  { tag: tags.emphasis, class: "italic" },
  { tag: [tags.link, tags.url], class: "text-code-text" },
  { tag: tags.invalid, class: "text-danger" },
]);
