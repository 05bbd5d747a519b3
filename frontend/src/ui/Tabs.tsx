import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

export interface Tab<V extends string> {
  value: V;
  label: ReactNode;
  /** A number after the label, such as how many there are. */
  count?: ReactNode | undefined;
  content?: ReactNode | undefined;
}

export interface TabsProps<V extends string> {
  label: string;
  items: readonly Tab<V>[];
  value: V;
  onValueChange: (value: V) => void;
}

/** Views of one thing. Arrow keys move, Enter or Space opens: a view may have to load. */
export function Tabs<V extends string>({ label, items, value, onValueChange }: TabsProps<V>) {
  return (
    <Base.Root
      value={value}
      onValueChange={(next) => {
        const chosen = items.find((item) => item.value === next);
        if (chosen) onValueChange(chosen.value);
      }}
      className="min-w-0"
    >
      <Base.List aria-label={label} className="relative flex gap-1 overflow-x-auto border-b border-line">
        {items.map((item) => (
          <Base.Tab
            key={item.value}
            value={item.value}
            className="flex h-(--row-roomy) shrink-0 items-center gap-1.5 rounded-t-sm border-b-2 border-transparent px-2.5 text-base font-medium text-ink-2 -outline-offset-2 hover:text-ink data-active:border-accent data-active:text-ink"
          >
            {item.label}
            {item.count !== undefined && <span className="tabular text-sm font-normal text-ink-3">{item.count}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      {items.map(
        (item) =>
          item.content !== undefined && (
            <Base.Panel key={item.value} value={item.value} className="min-w-0 pt-4">
              {item.content}
            </Base.Panel>
          ),
      )}
    </Base.Root>
  );
}
