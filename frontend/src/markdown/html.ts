/** Raw HTML in Markdown stands there as the text that it is: nothing of it works, and nothing that it says is hidden. */
import type { Nodes, Parent, PhrasingContent, Root } from "mdast";

/** A plugin for remark. A line break is the one tag that is taken for what it means, as models write it in tables. */
export function remarkHtmlAsText(): (tree: Root) => void {
  return (tree) => walk(tree);
}

function walk(parent: Parent): void {
  parent.children = parent.children.map((node: Nodes) => {
    if (node.type === "html") {
      const inline: PhrasingContent = /^<br ?\/?>$/i.test(node.value)
        ? { type: "break" }
        : { type: "text", value: node.value };
      return INLINE.has(parent.type) ? inline : { type: "paragraph", children: [inline] };
    }
    if ("children" in node) walk(node);
    return node;
  }) as typeof parent.children;
}

const INLINE: ReadonlySet<string> = new Set([
  "paragraph",
  "heading",
  "emphasis",
  "strong",
  "delete",
  "link",
  "linkReference",
  "tableCell",
]);
