import { Toast } from "@base-ui/react/toast";
import { useEffect, useState } from "react";
import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { whyOf } from "./errorHelp";
import { IconButton } from "./IconButton";
import { SafeText } from "./SafeText";
import { Shape } from "./State";

export type ToastKind = "quiet" | "good" | "ask" | "danger";

export interface ToastMessage {
  /** What it is about: one of the same key takes its place, and `untoast` closes it. */
  key?: string | undefined;
  title: string;
  detail?: string | undefined;
  kind?: ToastKind | undefined;
  action?: { label: string; onClick: () => void } | undefined;
}

const SHOWN_MS = { plain: 6000, action: 12_000, danger: 20_000 } as const;
const manager = Toast.createToastManager<{ kind: ToastKind }>();
/** What was said before there was a place to show it, which is fetched after the page; null once there is. */
let early: ToastMessage[] | null = [];

/**
 * Say that something happened; from anywhere, also outside React. It goes after a while, during which nobody points at it;
 * what lasts is behind the bell, in the inbox, or on the page itself.
 */
export function toast(message: ToastMessage): void {
  if (early) early.push(message);
  else show(message);
}

/** Say that something failed, and why. */
export function toastError(title: string, error: unknown): void {
  toast({ title, detail: error instanceof Error ? whyOf(error) : String(error), kind: "danger" });
}

/** Close what was said about this: it is settled. */
export function untoast(key: string): void {
  if (early) early = early.filter((message) => message.key !== key);
  else manager.close(key);
}

function show({ key, title, detail, kind = "quiet", action }: ToastMessage): void {
  const id = manager.add({
    ...(key && { id: key }),
    title: <SafeText>{title}</SafeText>,
    description: detail ? <SafeText lines>{detail}</SafeText> : undefined,
    timeout: SHOWN_MS[kind === "danger" ? "danger" : action ? "action" : "plain"],
    priority: kind === "danger" ? "high" : "low",
    data: { kind },
    ...(action && {
      actionProps: {
        children: action.label,
        onClick: () => {
          action.onClick();
          manager.close(id);
        },
      },
    }),
  });
}

/** Where the top line has room for one. */
const WIDE = "(min-width: 80rem)";

/**
 * Where toasts appear, the newest alone; once, in the shell. It has a place of its own, so that it covers nothing: in the
 * top line, or where that has no room, between it and the page.
 */
export function ToastHost() {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useEffect(() => {
    const wide = matchMedia(WIDE);
    const find = () => setPlace(document.getElementById(wide.matches ? "toasts-line" : "toasts-strip"));
    find();
    wide.addEventListener("change", find);
    return () => wide.removeEventListener("change", find);
  }, []);
  useEffect(() => {
    const waiting = early ?? [];
    early = null;
    waiting.forEach(show);
    return () => {
      early = [];
    };
  }, []);
  return (
    <Toast.Provider toastManager={manager} limit={1}>
      <Toast.Portal container={place}>
        <Toast.Viewport aria-label={t("notifications")} className="min-w-0">
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown() {
  const { toasts } = Toast.useToastManager<{ kind: ToastKind }>();
  return toasts.map((message) => {
    const kind = message.data?.kind ?? "quiet";
    return (
      <Toast.Root
        key={message.id}
        toast={message}
        // Base hides an urgent one that it reads out elsewhere; its buttons can have the focus all the same.
        aria-hidden={false}
        className={cx(
          "ms-auto w-fit max-w-full rounded-md border bg-raised text-ink transition-opacity data-limited:hidden max-xl:w-full max-xl:rounded-none max-xl:border-x-0 max-xl:border-t-0",
          "data-starting-style:opacity-0 data-ending-style:opacity-0",
          kind === "danger" ? "border-danger-line" : "border-line",
        )}
      >
        <Toast.Content className="flex min-h-8 min-w-0 items-center gap-2.5 ps-3 text-sm max-xl:ps-4 md:max-xl:ps-6">
          {kind !== "quiet" && (
            <span className={{ good: "text-good", ask: "text-ask", danger: "text-danger" }[kind]}>
              <Shape kind={kind} />
            </span>
          )}
          <Toast.Title className="min-w-0 truncate font-medium max-md:flex-1" />
          <Toast.Description className="min-w-0 shrink-[3] truncate text-ink-2 max-md:hidden" />
          <Toast.Action className="inline-flex min-h-(--target) shrink-0 items-center rounded-sm font-medium text-accent underline decoration-accent-line underline-offset-2" />
          {/* Base hides it in stacks that fold; these are always open, and what can have the focus must be told. */}
          <Toast.Close aria-hidden={false} render={<IconButton icon="cross" label={t("dismiss")} size="sm" />} />
        </Toast.Content>
      </Toast.Root>
    );
  });
}
