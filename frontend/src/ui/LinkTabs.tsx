import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { cx } from "./classes";

export interface LinkTab {
  to: string;
  search?: object | undefined;
  label: ReactNode;
  here: boolean;
}

/** Views of a page that have addresses of their own. On a phone they scroll, and the one that is open is in sight. */
export function LinkTabs({ label, tabs, className }: { label: string; tabs: readonly LinkTab[]; className?: string }) {
  return (
    <nav aria-label={label} className={cx("relative min-w-0 overflow-x-auto overflow-y-hidden", className)}>
      <ul className="flex gap-1">
        {tabs.map(({ to, search = {}, label: name, here }) => (
          <li key={to + JSON.stringify(search)} ref={here ? showBeside : null}>
            <Link
              to={to}
              search={search as never}
              preload="intent"
              aria-current={here ? "page" : undefined}
              className={cx(
                "flex h-(--row-roomy) items-center gap-1.5 rounded-sm border-b-2 px-2.5 whitespace-nowrap -outline-offset-2 hover:text-accent",
                here ? "border-accent font-medium text-ink" : "border-transparent text-ink-2",
              )}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function middle(element: HTMLElement): number {
  const { left, right } = element.getBoundingClientRect();
  return (left + right) / 2;
}

function showBeside(item: HTMLElement | null): void {
  const box = item?.closest("nav");
  if (item && box) box.scrollLeft += middle(item) - middle(box);
}
