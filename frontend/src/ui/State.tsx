import type { ReactNode } from "react";
import { cx } from "./classes";

export type StateKind = "work" | "ask" | "danger" | "good" | "tainted" | "quiet";

export const TEXT: Readonly<Record<StateKind, string>> = {
  work: "text-accent",
  ask: "text-ask",
  danger: "text-danger",
  good: "text-good",
  tainted: "text-tainted",
  quiet: "text-ink-2",
};

/** Of a shape that stands by itself: quiet ones are quieter than words. */
export const INK: Readonly<Record<StateKind, string>> = { ...TEXT, quiet: "text-ink-3" };

const FILL: Record<StateKind, string> = {
  work: "border-accent-line bg-accent-fill",
  ask: "border-ask-line bg-ask-fill",
  danger: "border-danger-line bg-danger-fill",
  good: "border-good-line bg-good-fill",
  tainted: "border-tainted-line bg-tainted-fill",
  quiet: "border-line bg-surface",
};

/** A state in a row: its shape and its word. The word is the state; colour and shape only find it faster. */
export function State({
  kind,
  wrap = false,
  children,
  className,
}: {
  kind: StateKind;
  /** It may take several lines; its shape stands at the first. */
  wrap?: boolean | undefined;
  children: ReactNode;
  className?: string | undefined;
}) {
  const flow = wrap ? "items-baseline [overflow-wrap:anywhere]" : "items-center whitespace-nowrap";
  return (
    <span className={cx("inline-flex gap-1.5", flow, TEXT[kind], className)}>
      <Shape kind={kind} />
      {children}
    </span>
  );
}

/** The same in a box, where it stands among text or alone. */
export function Badge({
  kind = "quiet",
  children,
  className,
}: {
  kind?: StateKind | undefined;
  children: ReactNode;
  className?: string | undefined;
}) {
  return (
    <span
      className={cx(
        "inline-flex h-5 max-w-full items-center gap-1 rounded-sm border px-1.5 text-xs font-medium whitespace-nowrap",
        TEXT[kind],
        FILL[kind],
        className,
      )}
    >
      {kind !== "quiet" && <Shape kind={kind} />}
      <span className="truncate">{children}</span>
    </span>
  );
}

/** Six outlines that are told apart without colour. */
export function Shape({ kind }: { kind: StateKind }) {
  return (
    <svg
      aria-hidden="true"
      focusable="false"
      width="10"
      height="10"
      viewBox="0 0 10 10"
      className="shrink-0"
      fill="none"
    >
      {kind === "work" && (
        <>
          <circle cx="5" cy="5" r="4" stroke="currentColor" strokeWidth="1.4" />
          <path d="M5 1a4 4 0 0 1 0 8z" fill="currentColor" />
        </>
      )}
      {kind === "ask" && <path d="M5 .6 9.4 5 5 9.4.6 5z" fill="currentColor" />}
      {kind === "danger" && <path d="m2 2 6 6M8 2 2 8" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />}
      {kind === "good" && (
        <path
          d="M1.5 5.4 4 8l4.5-6"
          stroke="currentColor"
          strokeWidth="1.8"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      )}
      {kind === "tainted" && (
        <path d="M5 .8c2 2.4 3.2 3.9 3.2 5.3a3.2 3.2 0 0 1-6.4 0C1.8 4.700 3 3.200 5 .8z" fill="currentColor" />
      )}
      {kind === "quiet" && <circle cx="5" cy="5" r="3.4" stroke="currentColor" strokeWidth="1.4" />}
    </svg>
  );
}
