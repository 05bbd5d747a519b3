import { type KeyboardEvent, useState } from "react";
import { t } from "@/i18n/en/keys";
import { Button } from "@/ui/Button";
import { KeyHint } from "@/ui/KeyHint";
import { VisuallyHidden } from "@/ui/VisuallyHidden";
import { ALL_SHORTCUTS, keysOf, labelOf, named, useBindings } from "./shortcuts";

/** Every shortcut, and what gives it other keys. */
export function KeysList() {
  const { own, bind, reset } = useBindings();
  const [changing, setChanging] = useState("");
  const [problem, setProblem] = useState("");

  function onKey(event: KeyboardEvent, id: string) {
    if (changing !== id) return;
    if (event.key === "Escape" || event.key === "Tab") {
      setChanging("");
      event.stopPropagation();
      return;
    }
    const keys = event.key === "Backspace" || event.key === "Delete" ? "" : named(event.nativeEvent);
    if (!keys && event.key !== "Backspace" && event.key !== "Delete") return;
    event.preventDefault();
    event.stopPropagation();
    event.nativeEvent.stopImmediatePropagation();
    const other = keys && ALL_SHORTCUTS.find((shortcut) => shortcut.id !== id && keysOf(shortcut.id) === keys);
    setProblem(other ? t("taken", { label: labelOf(other) }) : "");
    if (other) return;
    bind(id, keys);
    setChanging("");
  }

  return (
    <div>
      <ul className="divide-y divide-line">
        {ALL_SHORTCUTS.map((shortcut) => {
          const { id } = shortcut;
          const label = labelOf(shortcut);
          const keys = keysOf(id);
          return (
            <li key={id} className="flex min-h-(--row-roomy) items-center justify-between gap-4">
              <span>{label}</span>
              <Button
                size="sm"
                kind="quiet"
                aria-pressed={changing === id}
                onClick={() => setChanging(changing === id ? "" : id)}
                onBlur={() => setChanging("")}
                onKeyDown={(event) => onKey(event, id)}
              >
                <VisuallyHidden>{t("change", { label })} </VisuallyHidden>
                {changing === id ? t("press") : keys ? <Keys keys={keys} /> : t("none")}
              </Button>
            </li>
          );
        })}
      </ul>
      <p role="status" className="min-h-5 pt-2 text-danger text-sm">
        {problem}
      </p>
      {Object.keys(own).length > 0 && <Button onClick={reset}>{t("reset")}</Button>}
    </div>
  );
}

/** Keys one after the other. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-1.5">
      {keys.split(" ").map((key, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same key can come twice, and none ever moves
        <KeyHint key={place} keys={key} />
      ))}
    </span>
  );
}
