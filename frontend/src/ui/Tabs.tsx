import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { cx } from "./classes";

export interface Tab<V extends string> {
  value: V;
  label: ReactNode;
  /** A number after the label, such as how many there are. */
  count?: ReactNode | undefined;
  content?: ReactNode | undefined;
  /** Not taken down while another one is shown: it holds a place in something, such as a scroll or a connection. */
  keep?: boolean | undefined;
}

export interface TabsProps<V extends string> {
  label: string;
  items: readonly Tab<V>[];
  value: V;
  onValueChange: (value: V) => void;
  /** They take the height that there is, and each view scrolls by itself. */
  fill?: boolean | undefined;
  /** After the tabs, in their line. */
  aside?: ReactNode | undefined;
}

/** Views of one thing. Arrow keys move, Enter or Space opens: a view may have to load. */
export function Tabs<V extends string>({ label, items, value, onValueChange, fill = false, aside }: TabsProps<V>) {
  return (
    <Base.Root
      value={value}
      onValueChange={(next) => {
        const chosen = items.find((item) => item.value === next);
        if (chosen) onValueChange(chosen.value);
      }}
      className={cx("min-w-0", fill && "flex h-full min-h-0 flex-col")}
    >
      <div className="flex shrink-0 items-center border-b border-line">
        <Base.List
          aria-label={label}
          className="relative -mb-px flex min-w-0 flex-1 gap-x-1 overflow-x-auto overflow-y-hidden"
        >
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
        {aside}
      </div>
      {items.map(
        (item) =>
          item.content !== undefined && (
            <Base.Panel
              key={item.value}
              value={item.value}
              keepMounted={item.keep ?? false}
              className={cx("min-w-0", fill ? "min-h-0 flex-1 overflow-y-auto data-hidden:hidden" : "pt-4")}
            >
              {item.content}
            </Base.Panel>
          ),
      )}
    </Base.Root>
  );
}
