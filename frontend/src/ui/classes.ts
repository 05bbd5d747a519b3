/** Class names in one string; what is false or empty is left out. */
export function cx(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

/** The box of a control that takes text or a choice: one row high, so 32 px on a desk and 44 on a phone. */
export const CONTROL =
  "h-(--row) w-full min-w-0 rounded-md border border-line-strong bg-raised px-2.5 text-base text-ink transition-colors " +
  "placeholder:text-ink-3 hover:border-ink-3 data-invalid:border-danger disabled:bg-surface disabled:text-ink-3 " +
  "data-disabled:bg-surface data-disabled:text-ink-3";

/** A sheet that lies above the page: menus, lists, popovers. */
export const POPUP =
  "rounded-lg border border-line bg-raised text-ink shadow-raised outline-none transition-[opacity,transform] " +
  "data-starting-style:opacity-0 data-ending-style:opacity-0 data-starting-style:-translate-y-0.5";

/** One line of a menu or a list of choices. */
export const OPTION =
  "flex min-h-(--row) cursor-default items-center gap-2 rounded-md px-2 text-base outline-none select-none " +
  "data-highlighted:bg-hover data-disabled:text-ink-3";
