import { useEffect, useState } from "react";
import { type Leave, leaveOfBrowser, useOutside } from "@/features/notifications/notices";
import { t } from "@/i18n/en/settings";
import { Panel } from "@/ui/Panel";
import { State } from "@/ui/State";
import { Switch } from "@/ui/Switch";
import { TargetsPanel } from "./TargetsPanel";

const SAYS = {
  granted: { kind: "good", words: "leaveGranted" },
  default: { kind: "quiet", words: "leaveDefault" },
  denied: { kind: "danger", words: "leaveDenied" },
  none: { kind: "danger", words: "leaveNone" },
} as const;

export function NotificationsSection() {
  const { wanted, want } = useOutside();
  const [leave, setLeave] = useLeave();
  const { kind, words } = SAYS[leave];
  return (
    <>
      <Panel title={t("outsideTitle")} description={t("outsideInside")}>
        <div className="grid max-w-measure gap-5">
          <Switch
            label={t("outside")}
            hint={t("outsideAbout")}
            checked={wanted && leave === "granted"}
            disabled={leave === "denied" || leave === "none"}
            onCheckedChange={(next) => void want(next).then(setLeave)}
          />
          <div role="status">
            <h3 className="font-medium text-sm">{t("leave")}</h3>
            <State kind={kind} wrap className="mt-0.5">
              {t(words)}
            </State>
            {leave === "denied" && <p className="mt-1 text-ink-2">{t("leaveDeniedFix")}</p>}
          </div>
        </div>
      </Panel>
      <TargetsPanel />
    </>
  );
}

/** What the browser says now. It is changed in the browser's own settings, after which the person comes back to the tab. */
function useLeave(): [Leave, (leave: Leave) => void] {
  const [leave, setLeave] = useState(leaveOfBrowser);
  useEffect(() => {
    const look = () => setLeave(leaveOfBrowser());
    addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return [leave, setLeave];
}
