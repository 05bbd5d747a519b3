import { t } from "@/i18n/en/story";
import { Badge } from "@/ui/State";

/** How a command ended, by its exit code. */
export function Exit({ code }: { code: number }) {
  return (
    <span className="tabular">
      <Badge kind={code === 0 ? "good" : "danger"}>{t("exit", { code })}</Badge>
    </span>
  );
}
