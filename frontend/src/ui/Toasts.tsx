import { Toast } from "@base-ui/react/toast";
import { useEffect } from "react";
import { t } from "@/i18n/en/ui";
import { cx } from "./classes";
import { IconButton } from "./IconButton";
import { SafeText } from "./SafeText";
import { Shape } from "./State";

export type ToastKind = "quiet" | "good" | "ask" | "danger";

export interface ToastMessage {
  title: string;
  detail?: string | undefined;
  kind?: ToastKind | undefined;
  action?: { label: string; onClick: () => void } | undefined;
}

const SHOWN_MS = 6000;
const manager = Toast.createToastManager<{ kind: ToastKind }>();
/** What was said before there was a place to show it, which is fetched after the page; null once there is. */
let early: ToastMessage[] | null = [];

/**
 * Say that something happened; from anywhere, also outside React. What asks for an action, and what went wrong, stays
 * until it is dismissed: nobody reads at the speed of a timer.
 */
export function toast(message: ToastMessage): void {
  if (early) early.push(message);
  else show(message);
}

function show({ title, detail, kind = "quiet", action }: ToastMessage): void {
  const id = manager.add({
    title: <SafeText>{title}</SafeText>,
    description: detail ? <SafeText lines>{detail}</SafeText> : undefined,
    timeout: action || kind === "danger" ? 0 : SHOWN_MS,
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

/** Where toasts appear; once, in the shell. */
export function ToastHost() {
  useEffect(() => {
    const waiting = early ?? [];
    early = null;
    waiting.forEach(show);
    return () => {
      early = [];
    };
  }, []);
  return (
    <Toast.Provider toastManager={manager} limit={4}>
      <Toast.Portal>
        <Toast.Viewport
          aria-label={t("notifications")}
          className="fixed right-4 bottom-[calc(var(--bar)+1rem)] left-4 z-60 flex flex-col gap-2 md:bottom-4 md:left-auto md:w-90"
        >
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
        className={cx(
          "rounded-lg border bg-raised text-ink shadow-raised transition-[opacity,transform] data-limited:hidden",
          "translate-x-(--toast-swipe-movement-x) data-starting-style:translate-y-2 data-starting-style:opacity-0 data-ending-style:opacity-0",
          kind === "danger" ? "border-danger-line" : "border-line",
        )}
      >
        <Toast.Content className="flex items-start gap-2.5 py-2.5 pr-1.5 pl-3.5">
          {kind !== "quiet" && (
            <span className={cx("pt-1.5", { good: "text-good", ask: "text-ask", danger: "text-danger" }[kind])}>
              <Shape kind={kind} />
            </span>
          )}
          <div className="min-w-0 flex-1 py-0.5">
            <Toast.Title className="text-base font-medium break-words" />
            <Toast.Description className="mt-0.5 max-h-40 overflow-y-auto text-sm text-ink-2" />
            <Toast.Action className="mt-1.5 inline-flex min-h-(--target) items-center rounded-sm text-sm font-medium text-accent underline decoration-accent-line underline-offset-2" />
          </div>
          {/* Base hides it in stacks that fold; these are always open, and what can have the focus must be told. */}
          <Toast.Close aria-hidden={false} render={<IconButton icon="cross" label={t("dismiss")} size="sm" />} />
        </Toast.Content>
      </Toast.Root>
    );
  });
}
