import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement } from "react";
import { cx, OPTION, POPUP } from "./classes";
import { Icon, type IconName } from "./Icon";
import { KeyHint } from "./KeyHint";

export type MenuEntry =
  | {
      kind?: "action" | undefined;
      label: string;
      onSelect: () => void;
      icon?: IconName | undefined;
      keys?: string | undefined;
      danger?: boolean | undefined;
      disabled?: boolean | undefined;
    }
  | {
      kind: "check";
      label: string;
      checked: boolean;
      onCheckedChange: (checked: boolean) => void;
      disabled?: boolean | undefined;
    }
  | { kind: "heading"; label: string }
  | { kind: "line" };

/** Actions behind a button. `trigger` is that button, a `Button` or an `IconButton`. */
export function Menu({
  trigger,
  entries,
  align = "end",
}: {
  trigger: ReactElement<Record<string, unknown>>;
  entries: readonly MenuEntry[];
  align?: "start" | "end" | undefined;
}) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align={align} className="z-(--layer-over)">
          <Base.Popup className={cx(POPUP, "max-h-(--available-height) min-w-44 overflow-y-auto p-1")}>
            {keyed(entries).map(({ key, entry }) => (
              <Entry key={key} entry={entry} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Entry({ entry }: { entry: MenuEntry }) {
  switch (entry.kind) {
    case "line":
      return <Base.Separator className="my-1 h-px bg-line" />;
    case "heading":
      return <div className="px-2 py-1 text-xs font-medium text-ink-2">{entry.label}</div>;
    case "check":
      return (
        <Base.CheckboxItem
          checked={entry.checked}
          onCheckedChange={entry.onCheckedChange}
          disabled={entry.disabled}
          className={OPTION}
        >
          <span className="flex size-4 text-accent">
            <Base.CheckboxItemIndicator>
              <Icon name="check" />
            </Base.CheckboxItemIndicator>
          </span>
          {entry.label}
        </Base.CheckboxItem>
      );
    default:
      return (
        <Base.Item
          onClick={entry.onSelect}
          disabled={entry.disabled}
          className={cx(OPTION, entry.danger && "data-highlighted:bg-danger-fill data-highlighted:text-danger")}
        >
          {entry.icon && <Icon name={entry.icon} className="text-current opacity-70" />}
          <span className="flex-1">{entry.label}</span>
          {entry.keys && (
            <span className="ps-4 text-ink-3">
              <KeyHint keys={entry.keys} />
            </span>
          )}
        </Base.Item>
      );
  }
}

/** A line has no words; it is known by what stands before it. */
function keyed(entries: readonly MenuEntry[]): readonly { key: string; entry: MenuEntry }[] {
  let before = "";
  return entries.map((entry) => {
    if (entry.kind === "line") return { key: `line after ${before}`, entry };
    before = entry.label;
    return { key: `${entry.kind ?? "action"} ${entry.label}`, entry };
  });
}
