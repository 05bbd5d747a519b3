import { useConnection } from "@/api/live";
import { t } from "@/i18n/en/app";

const LOOKS = {
  idle: "border-line text-ink-3",
  live: "border-line text-ink-2",
  "catching up": "border-ask-line bg-ask-fill text-ask",
  offline: "border-danger-line bg-danger-fill text-danger",
} as const;

const SHAPES = {
  idle: "border border-ink-3",
  live: "bg-accent",
  "catching up": "border-2 border-ask",
  offline: "rotate-45 rounded-none bg-danger",
} as const;

/** Whether what is shown is what is. */
export function ConnectionPill() {
  const { state, behind } = useConnection();
  const words =
    state === "offline"
      ? t("offline")
      : state === "catching up"
        ? behind > 0
          ? t("catchingUpBy", { count: behind })
          : t("catchingUp")
        : state === "live"
          ? t("live")
          : t("loading");
  return (
    <div
      role="status"
      aria-label={t("connection")}
      title={state === "offline" ? t("offlineDetail") : undefined}
      className={`flex h-6 items-center gap-1.5 whitespace-nowrap rounded-full border px-2 text-xs ${LOOKS[state]}`}
    >
      <span aria-hidden="true" className={`size-2 rounded-full ${SHAPES[state]}`} />
      {words}
    </div>
  );
}
