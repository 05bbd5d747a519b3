/** What can be done to an objective, by its state. STOP is there for as long as something runs; trying a failed one again
 * stands with the reason that it failed. */
import { useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/objectives";
import { Button } from "@/ui/Button";
import { IconButton } from "@/ui/IconButton";
import { Menu, type MenuEntry } from "@/ui/Menu";
import { toast } from "@/ui/Toasts";
import { download } from "@/ui/table/csv";
import { useDeed } from "./commands";
import { CancelDialog, DeleteDialog, RetryDialog } from "./Dialogs";
import { isOpen, isUnderWay, type Row } from "./words";

export function Controls({ row }: { row: Row }) {
  const { act, pending } = useDeed(row.id);
  const [asking, setAsking] = useState<"cancel" | "delete" | "retry" | null>(null);
  const close = () => setAsking(null);
  const underWay = isUnderWay(row.status);

  const entries: MenuEntry[] = [
    { label: t("exportMarkdown"), icon: "download", onSelect: () => void exported(row) },
    { kind: "line" },
    isOpen(row.status)
      ? { label: t("cancelIt"), icon: "cross", danger: true, onSelect: () => setAsking("cancel") }
      : { label: t("deleteIt"), icon: "trash", danger: true, onSelect: () => setAsking("delete") },
  ];

  return (
    <div className="flex min-w-0 flex-1 items-center gap-2">
      {underWay && (
        <>
          <Button
            kind="danger"
            icon="stop"
            busy={pending === "stop" && t("stopping")}
            onClick={() => act({ verb: "stop" })}
            className="flex-1"
          >
            {t("stop")}
          </Button>
          <Button
            icon="pause"
            busy={pending === "pause" && t("pausing")}
            onClick={() => act({ verb: "pause" })}
            className="flex-1"
          >
            {t("pause")}
          </Button>
        </>
      )}
      {row.status === "paused" && (
        <Button
          kind="primary"
          icon="play"
          busy={pending === "resume" && t("resuming")}
          onClick={() => act({ verb: "resume" })}
          className="flex-1"
        >
          {t("resume")}
        </Button>
      )}
      {row.status === "cancelled" && (
        <Button icon="refresh" onClick={() => setAsking("retry")} className="flex-1">
          {t("retry")}
        </Button>
      )}
      <Menu trigger={<IconButton icon="more" label={t("moreActions")} className="ml-auto" />} entries={entries} />
      <CancelDialog id={row.id} open={asking === "cancel"} onClose={close} />
      <RetryDialog row={row} open={asking === "retry"} onClose={close} />
      <DeleteDialog id={row.id} open={asking === "delete"} onClose={close} />
    </div>
  );
}

/** The whole of it as Markdown, for people. */
async function exported(row: Row): Promise<void> {
  try {
    const text = await data(
      api.GET("/sessions/{session}/export", { params: { path: { session: row.id } }, parseAs: "text" }),
    );
    download(`${row.id}.md`, "text/markdown", text);
  } catch (error) {
    toast({ title: t("exportFailed"), detail: error instanceof Error ? error.message : String(error), kind: "danger" });
  }
}
