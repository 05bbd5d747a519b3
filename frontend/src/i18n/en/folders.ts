/** Words of the folder picker. */
import { define } from "@/i18n";

export const t = define("folders", {
  label: "Folder",
  hint: "The folder that the work is about. Nothing outside it is written.",
  placeholder: "/home/ada/notes",
  browse: "Browse",
  close: "Close folders",
  recent: "Recent folders",
  list: "Folders in {path}",
  crumbs: "Where this is",
  up: "Up to {name}",
  top: "Computer",
  open: "Open {name}",
  none: "No folders in here.",
  noneMatch: "No folder in here begins with “{text}”.",
  truncated: "There are more folders than are shown; type the path.",
  absolute: "Give the whole path, beginning with /.",
  no: "Stead will not work here: {why}.",
  yes: "Stead may work here.",
  missing: "There is no folder “{name}” in {path}. Make it first, or choose another.",
  link: "link to {target}",
  hidden: "{count, plural, one {Show # hidden folder} other {Show # hidden folders}}",
  keys: "Arrow keys move, Enter opens, Backspace goes up.",
});
