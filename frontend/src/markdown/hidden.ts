/** Characters that hide, or turn the direction of writing, become visible in Markdown as they are everywhere else. */
import type { Element, ElementContent, Root, RootContent, Text } from "hast";
import { reveal, spelled } from "@/ui/reveal";

const MARK = ["rounded-sm", "bg-tainted-fill", "px-0.5", "font-mono", "text-tainted"];

/** A plugin for rehype. Its marks are its own, so it goes after the sanitizer. */
export function rehypeReveal(): (tree: Root) => void {
  return (tree) => {
    tree.children = shownIn(tree.children);
  };
}

function shownIn<Node extends RootContent | ElementContent>(nodes: Node[]): Node[] {
  return nodes.flatMap((node) => {
    if (node.type === "text") return shown(node) as Node[];
    if (node.type === "element") node.children = shownIn(node.children);
    return [node];
  });
}

function shown(node: Text): (Text | Element)[] {
  const parts = reveal(node.value, true);
  if (parts.every((part) => part.kind === "text")) return [node];
  return parts.map((part) =>
    part.kind === "text"
      ? { type: "text", value: part.text }
      : {
          type: "element",
          tagName: "span",
          properties: { className: MARK },
          children: [{ type: "text", value: spelled(part.codes) }],
        },
  );
}
