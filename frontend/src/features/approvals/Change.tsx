/** What a write or an edit changes in its file. Import it lazily: it brings the comparison. */
import { useEffect, useMemo, useState } from "react";
import { t } from "@/i18n/en/approvals";
import { compare } from "@/ui/diff/compare";
import { DiffLines } from "@/ui/diff/DiffLines";
import { countLines, type Hunk } from "@/ui/diff/unified";
import { type Change as Changed, textsOf } from "./preview";
import { CutNote, End, Whole } from "./Whole";

/** Of a longer one the rest comes at a press, and must have come before it is allowed. */
const MOST = 2000;

export function Change({
  change,
  file,
  onCount,
  onSeen,
}: {
  change: Changed;
  /** The file's text as it is; nothing where it is not known. */
  file: string | undefined;
  onCount: (count: { added: number; removed: number }) => void;
  onSeen: () => void;
}) {
  const [opened, setOpened] = useState(false);
  const hunks = useMemo(() => {
    const { before, after } = textsOf(change, file);
    return withEnds(compare(before, after), before, after);
  }, [change, file]);
  useEffect(() => onCount(countLines(hunks)), [hunks, onCount]);
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const cut = total > MOST && !opened;
  return (
    <Whole label={t("changeOf", { path: change.path })} className="[&>section]:rounded-none [&>section]:border-0">
      <DiffLines
        hunks={cut ? beginning(hunks) : hunks}
        path={change.path}
        layout="unified"
        most={Number.MAX_SAFE_INTEGER}
      />
      {cut ? (
        <CutNote onOpen={() => setOpened(true)}>{t("cutLines", { shown: MOST, lines: total })}</CutNote>
      ) : (
        <End onSeen={onSeen} />
      )}
    </Whole>
  );
}

function beginning(hunks: readonly Hunk[]): Hunk[] {
  let room = MOST;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, room);
    room -= lines.length;
    return lines.length > 0 ? [{ ...hunk, lines }] : [];
  });
}

/** Lines compare without the end of the last one: a file that loses or gains it says so. */
function withEnds(hunks: Hunk[], before: string, after: string): Hunk[] {
  if (before === "" || after === "" || before.endsWith("\n") === after.endsWith("\n")) return hunks;
  const text = t(after.endsWith("\n") ? "endAdded" : "endRemoved");
  return [...hunks, { heading: "", lines: [{ kind: "note", text, old: null, new: null }], missing: 0, source: "" }];
}
