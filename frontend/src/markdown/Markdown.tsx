/**
 * What a model or a file wrote, as Markdown. All of it is hostile: raw HTML stays text, nothing is fetched (an image is a
 * link with its words), links say where they really lead, and what hides is shown.
 */
import { type ComponentType, memo, type ReactNode, useMemo } from "react";
import Renderer, { type Components, type ExtraProps, type Options } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { t } from "@/i18n/en/markdown";
import { cx } from "@/ui/classes";
import { Icon } from "@/ui/Icon";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";
import { blocksOf, isDense, isTangled, MOST_BLOCKS } from "./blocks";
import { Code } from "./Code";
import "./markdown.css";
import { Fallback } from "./Fallback";
import { rehypeReveal } from "./hidden";
import { remarkHtmlAsText } from "./html";
import { Outward } from "./Outward";

/** Longer texts are shown as they are: no person reads them as prose, and parsing them would hold the page. */
const LIMIT = 120_000;

const SCHEMA = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => name !== "picture" && name !== "source"),
};
type PluggableList = NonNullable<Options["rehypePlugins"]>;

const REMARK = [remarkGfm, remarkHtmlAsText];
const REHYPE: PluggableList = [[rehypeSanitize, SCHEMA], rehypeReveal];

export interface MarkdownProps {
  children: string;
  /** More is to come. */
  writing?: boolean | undefined;
}

export function Markdown({ children, writing = false }: MarkdownProps) {
  const long = children.length > LIMIT || isTangled(children);
  const blocks = useMemo(() => (long ? [] : blocksOf(children, writing)), [children, writing, long]);
  if (long || blocks.length > MOST_BLOCKS) return <SafeText lines>{children}</SafeText>;
  // Pieces are only ever added or changed at the end, so their places name them.
  const pieces = blocks.map(({ text, level }, at) => ({ text, level, name: `${at}` }));
  return (
    <div dir="auto" className="prose">
      {pieces.map(({ text, level, name }) => (
        <Piece key={name} text={text} level={level} />
      ))}
    </div>
  );
}

const Piece = memo(function Piece({ text, level }: { text: string; level: number }) {
  if (isDense(text)) return <SafeText lines>{text}</SafeText>;
  return (
    <Fallback text={text}>
      <Renderer remarkPlugins={REMARK} rehypePlugins={REHYPE} components={BY_LEVEL[level - 2] ?? COMPONENTS}>
        {text}
      </Renderer>
    </Fallback>
  );
});

type Heading = "h2" | "h3" | "h4" | "h5" | "h6";

const COMPONENTS: Components = {
  a: ({ href, children }) => <Outward href={href}>{children}</Outward>,
  img: ({ src, alt }) => (
    <Outward href={typeof src === "string" ? src : undefined} picture>
      <SafeText>{alt ?? ""}</SafeText>
    </Outward>
  ),
  pre: ({ children }) => <Code>{children}</Code>,
  p: ({ children }) => <p dir="auto">{children}</p>,
  table: ({ children }) => (
    <ScrollBox className="my-3 overflow-x-auto" role="group" aria-label={t("table")}>
      <table>{children}</table>
    </ScrollBox>
  ),
  input: ({ checked }) => <Box checked={checked === true} />,
};

/** The box of a task: it shows how the list stands, and is nobody's to press. */
function Box({ checked }: { checked: boolean }) {
  return (
    <span
      role="img"
      aria-label={t(checked ? "taskDone" : "taskOpen")}
      className={cx(
        "me-1.5 inline-flex size-4 items-center justify-center rounded-sm border align-[-0.2em]",
        checked ? "border-accent bg-accent text-paper" : "border-line-strong bg-raised",
      )}
    >
      {checked && <Icon name="check" size={12} />}
    </span>
  );
}

/** A heading as large as its author meant it, at the level that fits the page. */
function headings(level: number): Components {
  const Tag: Heading = `h${Math.min(6, Math.max(2, level)) as 2 | 3 | 4 | 5 | 6}`;
  const sized =
    (size: number): ComponentType<{ children?: ReactNode } & ExtraProps> =>
    ({ children }) => (
      <Tag dir="auto" data-size={size}>
        {children}
      </Tag>
    );
  return { h1: sized(1), h2: sized(2), h3: sized(3), h4: sized(3), h5: sized(3), h6: sized(3) };
}

const BY_LEVEL = [2, 3, 4, 5, 6].map((level) => ({ ...COMPONENTS, ...headings(level) }));
