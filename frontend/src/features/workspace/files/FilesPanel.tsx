import { useRef, useState } from "react";
import { t } from "@/i18n/en/workspace";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { useWidth } from "@/ui/useWidth";
import { useWorkspace } from "../view";
import { FileTree } from "./FileTree";
import { FileView } from "./FileView";
import { above } from "./tree";
import { useChanged } from "./useChanged";

/** Where the tree and a file have room beside each other. */
const BOTH_PX = 540;
/** Where the tree has room for longer names. */
const ROOMY_PX = 760;

/** The files of a session's folder as they are now, and one of them open. */
export function FilesPanel({ session }: { session: string }) {
  const changed = useChanged(session);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const path = useWorkspace((view) => view.files[session] ?? "");
  const openFile = useWorkspace((view) => view.openFile);
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(above(path)));
  const [shown, setShown] = useState(path);
  if (shown !== path) {
    setShown(path);
    setOpen(new Set([...open, ...above(path)]));
  }
  const both = width >= BOTH_PX;
  const toggle = (folder: string, wanted: boolean) => {
    const next = new Set(open);
    if (wanted) next.add(folder);
    else next.delete(folder);
    setOpen(next);
  };
  return (
    <div ref={box} className="flex h-full min-h-0">
      <div
        className={
          both
            ? cx("h-full shrink-0 border-e border-line", width >= ROOMY_PX ? "w-60" : "w-42")
            : path
              ? "hidden"
              : "h-full w-full"
        }
      >
        <FileTree
          session={session}
          open={open}
          chosen={path}
          changed={changed}
          onToggle={toggle}
          onChoose={(to) => openFile(session, to)}
        />
      </div>
      {path ? (
        <FileView
          key={path}
          session={session}
          path={path}
          back={
            !both && (
              <Button size="sm" kind="quiet" icon="arrow-left" onClick={() => openFile(session, "")}>
                {t("backToFiles")}
              </Button>
            )
          }
        />
      ) : (
        both && <p className="p-6 text-base text-ink-2">{t("chooseFile")}</p>
      )}
    </div>
  );
}
