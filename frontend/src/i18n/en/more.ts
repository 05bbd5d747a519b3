import { define } from "@/i18n";

export const t = define("more", {
  channels: "Channels",
  schedules: "Schedules",
  skills: "Skills",
  canvas: "Canvas",
  about: "This page is older than the daemon and cannot show these yet. In the terminal: stead --help",
  none: "None",
  noneWhy: "Nothing here yet.",
  rows: "rows",
});
