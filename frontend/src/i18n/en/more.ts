import { define } from "@/i18n";

export const t = define("more", {
  channels: "Channels",
  schedules: "Schedules",
  skills: "Skills",
  canvas: "Canvas",
  about:
    "This page is older than the daemon and knows only that these are there. What can be done with them: stead --help",
  none: "There are none",
  noneWhy: "The daemon has this part, and nothing in it yet.",
  rows: "rows",
});
