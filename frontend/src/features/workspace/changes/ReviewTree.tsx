import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/review";
import { cx } from "@/ui/classes";
import { formatCount } from "@/ui/format";
import { Icon } from "@/ui/Icon";
import { SafeText } from "@/ui/SafeText";
import { parentOf } from "../files/tree";

type FileChange = Schema["FileChange"];

/** What became of a file, in the letter that version control has for it. */
export const MARK = { added: "A", changed: "M", deleted: "D", mode: "M" } as const;
const INK = { A: "text-good", M: "text-ask", D: "text-danger" };

export function ChangeMark({ kind }: { kind: FileChange["kind"] }) {
  const mark = MARK[kind];
  return (
    <span className={cx("w-3 shrink-0 text-center font-mono font-semibold text-xs", INK[mark])}>
      <span aria-hidden="true">{mark}</span>
      <span className="sr-only">{t(mark)}</span>
    </span>
  );
}

export function LineCounts({ change: { added, removed } }: { change: FileChange }) {
  if (added + removed === 0) return null;
  return (
    <span dir="ltr" className="tabular shrink-0 text-xs">
      {added > 0 && <span className="text-good">+{formatCount(added)}</span>}{" "}
      {removed > 0 && <span className="text-danger">−{formatCount(removed)}</span>}
    </span>
  );
}

/** The changed files below their folders. */
export function ReviewTree({
  changes,
  current,
  viewed,
  onChoose,
}: {
  changes: readonly FileChange[];
  current: string;
  viewed: (change: FileChange) => boolean;
  onChoose: (path: string) => void;
}) {
  const folders = new Map<string, FileChange[]>();
  for (const change of changes) {
    const folder = parentOf(change.path);
    folders.set(folder, [...(folders.get(folder) ?? []), change]);
  }
  return (
    <nav aria-label={t("files")}>
      {[...folders].map(([folder, files]) => (
        <div key={folder} className="pb-1">
          {folder && (
            <p className="flex items-center gap-1.5 px-2 py-1 text-ink-2 text-sm">
              <Icon name="folder" size={14} />
              <span className="min-w-0">
                <SafeText>{folder}</SafeText>
              </span>
            </p>
          )}
          <ul>
            {files.map((change) => (
              <li key={change.path}>
                <button
                  type="button"
                  aria-current={change.path === current || undefined}
                  onClick={() => onChoose(change.path)}
                  className={cx(
                    "flex min-h-(--target) w-full items-center gap-1.5 rounded-md px-2 py-1 text-start text-sm hover:bg-hover aria-current:bg-accent-fill",
                    folder && "ps-5",
                  )}
                >
                  <ChangeMark kind={change.kind} />
                  <span className={cx("min-w-0 flex-1 truncate", viewed(change) && "text-ink-2")}>
                    <SafeText>{change.path.slice(folder ? folder.length + 1 : 0)}</SafeText>
                  </span>
                  {viewed(change) && (
                    <>
                      <Icon name="check" size={14} className="text-ink-3" />
                      <span className="sr-only">{t("viewed")}</span>
                    </>
                  )}
                  <LineCounts change={change} />
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
