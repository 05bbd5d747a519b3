/** Words of the folder picker. */
import { define } from "@/i18n";

export const t = define("folders", {
  placeholder: "/home/ada/notes",
  browse: "Browse",
  close: "Close folders",
  recent: "Recent folders",
  list: "Folders in {path}",
  up: "Up to {name}",
  top: "Computer",
  open: "Open {name}",
  none: "No folders here.",
  noneMatch: "No folder begins with “{text}”.",
  truncated: "Too many folders to show; type the path.",
  absolute: "Enter the full path, beginning with /.",
  no: "Stead can’t work here: {why}.",
  yes: "Stead can work here.",
  missing: "There is no folder “{name}” in {path}. Create it first, or choose another.",
  hidden: "{count, plural, one {Show # hidden folder} other {Show # hidden folders}}",
  keys: "Arrow keys move, Enter opens, Backspace goes up.",
});
