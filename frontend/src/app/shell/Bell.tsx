import { clearNotices, seeNotices, useNotices } from "@/features/notifications/notices";
import { t } from "@/i18n/en/notices";
import { Button } from "@/ui/Button";
import { IconButton } from "@/ui/IconButton";
import { Link } from "@/ui/Link";
import { Popover } from "@/ui/Popover";
import { SafeText } from "@/ui/SafeText";
import { Shape } from "@/ui/State";
import { Time } from "@/ui/Time";

const TEXT = { ask: "text-ask", good: "text-good", danger: "text-danger", quiet: "text-ink-2" } as const;

/** What happened while the page was open. */
export function Bell() {
  const { items, unseen } = useNotices();
  return (
    <Popover
      title={t("notifications")}
      align="end"
      onOpenChange={(open) => open && seeNotices()}
      trigger={
        <IconButton icon="bell" label={t("unseen", { count: unseen })} className={unseen > 0 ? "text-accent" : ""} />
      }
    >
      {items.length === 0 ? (
        <p className="text-ink-2">{t("none")}</p>
      ) : (
        <>
          <ul className="grid gap-2">
            {items.map((notice) => (
              <li key={`${notice.at} ${notice.path}`} className="flex gap-2">
                <span className={`pt-1.5 ${TEXT[notice.kind]}`}>
                  <Shape kind={notice.kind} />
                </span>
                <span className="min-w-0">
                  <Link to={notice.path} kind="plain">
                    <SafeText>{notice.title}</SafeText>
                  </Link>{" "}
                  <Time at={notice.at} className="text-ink-3 text-sm" />
                </span>
              </li>
            ))}
          </ul>
          <Button size="sm" kind="quiet" className="mt-2" onClick={clearNotices}>
            {t("clear")}
          </Button>
        </>
      )}
    </Popover>
  );
}
