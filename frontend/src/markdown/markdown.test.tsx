// @vitest-environment jsdom
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { blocksOf } from "./blocks";
import { Markdown } from "./Markdown";

function drawn(text: string, writing = false): string {
  return renderToStaticMarkup(<Markdown writing={writing}>{text}</Markdown>);
}

describe("hostile Markdown", () => {
  it.each([
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[press](javascript:alert(1))",
    "[press](JaVaScRiPt&colon;alert(1))",
    "[press](data:text/html,<script>alert(1)</script>)",
    "[press](vbscript:x)",
    "![look](https://evil.example.com/pixel.png)",
    "![look](data:image/svg+xml;base64,PHN2Zy8+)",
    "<iframe src=https://evil.example.com></iframe>",
    "<svg onload=alert(1)>",
    '<a href="https://evil.example.com" onclick="alert(1)">x</a>',
    "<style>body{display:none}</style>",
    "<form action=https://evil.example.com><input name=a></form>",
    "```html\n<script>alert(1)</script>\n```",
  ])("%s runs nothing and fetches nothing", (text) => {
    const made = new DOMParser().parseFromString(drawn(text), "text/html");
    expect(
      made.querySelectorAll("script,img,iframe,style,form,input,object,embed,picture,video,link,meta"),
    ).toHaveLength(0);
    for (const element of made.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        expect(name.startsWith("on")).toBe(false);
        if (name === "href") expect(value).toMatch(/^(https?|mailto):/);
      }
    }
  });

  it("shows where a link leads, whatever it says", () => {
    const made = drawn("[https://bank.example.com](https://evil.example.net/login)");
    expect(made).toContain("(evil.example.net)");
    expect(made).toContain('rel="noreferrer noopener"');
    expect(drawn("[bank](https://bаnk.example.com)")).toContain("(xn--bnk-6cd.example.com)");
  });

  it("says a host once where the words are the address, and never trusts words that only look like it", () => {
    expect(drawn("See https://quay.example.com/west.")).not.toContain("(quay.example.com)");
    expect(drawn("[quay.example.com](https://quay.example.com/)")).not.toContain("(quay.example.com)");
    expect(drawn("[https://quay.example.com/a](https://quay.example.com/b)")).toContain("(quay.example.com)");
    expect(drawn("[https://quаy.example.com/](https://quаy.example.com/)")).toContain("(xn--");
    expect(drawn("[quay.example.com@evil.example.net/](https://evil.example.net/)")).toContain("(evil.example.net)");
    expect(drawn("[quay.example.com\u200b](https://quay.example.com/)")).toContain("(quay.example.com)");
  });

  it("makes a picture a link with its words", () => {
    const made = drawn("![the quay](https://pictures.example.com/quay.png)");
    expect(made).toContain("the quay");
    expect(made).toContain("(pictures.example.com)");
  });

  it("shows characters that hide, in text and in code", () => {
    expect(drawn("pay \u202eada")).toContain("⟨U+202E⟩");
    expect(drawn("`rm\u200b -rf`")).toContain("⟨U+200B⟩");
  });

  it("keeps raw HTML as the text that it is", () => {
    expect(drawn("a <b>bold</b> claim <!-- and a secret -->")).toContain("&lt;!-- and a secret --&gt;");
    expect(drawn("<div hidden>\nread this\n</div>")).toContain("&lt;div hidden&gt;");
    expect(drawn("| a |\n| - |\n| one<br>two |")).toContain("one<br/>");
  });

  it("survives what is nested far too deeply, and what is far too long", () => {
    expect(drawn("a\n".repeat(90_000))).toContain("a\na");
    expect(() => blocksOf(`${"> ".repeat(400)}deep`, false)).not.toThrow();
  });
});

describe("tasks", () => {
  it("stand in boxes that say how they are, and are no fields", () => {
    const made = drawn("- [x] trim\n- [ ] fill");
    expect(made).toContain('aria-label="Done:"');
    expect(made).toContain('aria-label="To do:"');
    expect(made).not.toContain("<input");
  });
});

describe("headings", () => {
  it("leave the first level to the page, and none out", () => {
    const levels = [...drawn("### a\n\n# b\n\n#### c\n\n## d\n\n# e").matchAll(/<h(\d)/g)].map((found) => found[1]);
    expect(levels).toEqual(["2", "2", "3", "3", "2"]);
  });
});

describe("a text that is being written", () => {
  const text =
    "# The harbour\n\nThe **north lamp** is lit.\n\n- a\n- b\n\n```py\nx = 1\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nThe end of it.";

  it("keeps the pieces before the last one, however it is cut", () => {
    let before: string[] = [];
    for (let end = 1; end <= text.length; end += 1) {
      const pieces = blocksOf(text.slice(0, end), true).map((piece) => piece.text);
      const kept = before.slice(0, -2);
      expect(pieces.slice(0, kept.length)).toEqual(kept);
      before = pieces;
    }
  });

  it("shows no bars of a table whose heads are not whole yet", () => {
    const table = "What I saw:\n\n| lamp | lit |\n| --- | --- |\n| north | yes |";
    for (let end = 15; end <= table.length; end += 1) {
      const pieces = blocksOf(table.slice(0, end), true);
      expect(pieces.slice(1).every((piece) => drawn(piece.text, true).includes("<table"))).toBe(true);
    }
    expect(blocksOf("| not a table |", false)).toHaveLength(1);
  });

  it("closes for the time being what is open at its end", () => {
    expect(drawn("The **north la", true)).toContain("<strong>north la</strong>");
    expect(drawn("See [the list](https://quay.exam", true)).toContain("the list");
    expect(drawn("```py\nx = 1", true)).toContain("<pre");
  });

  it("finds what links are called, wherever that stands", () => {
    expect(drawn("See [the list][1].\n\nMore.\n\n[1]: https://quay.example.com/list")).toContain("(quay.example.com)");
  });
});

describe("Markdown that is written to hold the page", () => {
  const SIZE = 60_000;
  const fill = (text: string) => text.repeat(SIZE / text.length);
  it.each([
    ["quotes in quotes", fill("> ")],
    ["quotes without spaces", fill(">")],
    ["numbers in numbers", fill("1. ")],
    ["a list that goes in and in", Array.from({ length: 340 }, (_, depth) => `${" ".repeat(depth)}- a`).join("\n")],
    ["brackets in brackets", `${fill("[")}a${fill("](b)")}`],
    ["emphasis without an end", fill("**a *b ")],
    ["underscores between letters", fill("_a")],
    ["a paragraph for each letter", fill("a\n\n")],
  ])("%s are shown as they are, soon", (_, text) => {
    for (const writing of [false, true]) {
      const began = performance.now();
      const made = drawn(text, writing);
      expect(performance.now() - began).toBeLessThan(2000);
      expect(new DOMParser().parseFromString(made, "text/html").body.textContent).toContain(
        text.slice(0, 20).trimEnd(),
      );
    }
  });

  it("leaves what people write alone", () => {
    const text = `${"> ".repeat(6)}deep\n\n${"- a *b* `c` [d](https://ink.example.com)\n".repeat(300)}`;
    expect(drawn(text)).toContain("<li>");
    expect(drawn(text)).toContain("<blockquote>");
  });
});
