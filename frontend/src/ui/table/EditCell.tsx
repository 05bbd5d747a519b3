import { type KeyboardEvent, useRef, useState } from "react";
import { t } from "@/i18n/en/table";
import { cx } from "../classes";
import { toastError } from "../Toasts";
import type { Column } from "./columns";

/** A field in place of a cell. Its draft is its own until it is saved: a key typed here draws nothing else. */
export function EditCell<Row>({
  column,
  row,
  onFinish,
}: {
  column: Column<Row>;
  row: Row;
  /** True to put the focus back on the cell. */
  onFinish: (refocus: boolean) => void;
}) {
  const before = column.edit?.draft(row) ?? "";
  const [draft, setDraft] = useState(before);
  const [saving, setSaving] = useState(false);
  // Enter takes the field away, which is a blur as well; a draft is saved once.
  const settled = useRef(false);
  const leave = (refocus: boolean) => {
    settled.current = true;
    onFinish(refocus);
  };
  const save = async (refocus: boolean) => {
    if (settled.current) return;
    if (draft === before || !column.edit) return leave(refocus);
    settled.current = true;
    setSaving(true);
    try {
      await column.edit.commit(row, draft);
      onFinish(refocus);
    } catch (error) {
      toastError(t("notSaved"), error);
      settled.current = false;
      setSaving(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") void save(true);
    else if (event.key === "Escape") leave(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <input
      ref={begin}
      value={draft}
      readOnly={saving}
      aria-busy={saving || undefined}
      aria-label={t("editing", { column: column.header })}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void save(false)}
      onKeyDown={onKeyDown}
      className={cx(
        "-mx-1.5 h-6.5 w-[calc(100%+0.75rem)] rounded-sm border border-accent bg-raised px-1.5 text-base",
        column.numeric && "text-end",
      )}
    />
  );
}

/** Whoever pressed Enter on the cell writes in it, over what was there. */
function begin(field: HTMLInputElement | null): void {
  field?.focus();
  field?.select();
}
