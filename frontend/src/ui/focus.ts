/** Whether the page itself has the focus, or nothing has; not where a sheet or a menu that lies over it does. */
export function hasPageFocus(): boolean {
  return document.activeElement?.matches("html, body, #root *") ?? true;
}
