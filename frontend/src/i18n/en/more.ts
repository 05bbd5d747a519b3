import { define } from "@/i18n";

export const t = define("more", {
  about: "This page is older than the daemon and cannot show these yet. In the terminal: stead --help",
  noneWhy: "Nothing here yet.",
  rows: "rows",
});
