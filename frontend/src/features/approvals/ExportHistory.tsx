import { api, data } from "@/api/client";
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { Menu } from "@/ui/Menu";
import { toast } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";

/** Every question with its answer, who gave it, when, where and its digest, as a file. */
export function ExportHistory() {
  const give = async (format: "csv" | "json") => {
    try {
      const text = await data(api.GET("/approvals/export", { params: { query: { format } }, parseAs: "text" }));
      download(`approvals.${format}`, format === "csv" ? "text/csv" : "application/json", text);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      toast({ title: t("exportFailed"), detail, kind: "danger" });
    }
  };
  return (
    <Menu
      trigger={
        <Button kind="quiet" icon="download">
          {t("export")}
        </Button>
      }
      entries={[
        { label: t("exportCsv"), onSelect: () => void give("csv") },
        { label: t("exportJson"), onSelect: () => void give("json") },
      ]}
    />
  );
}
