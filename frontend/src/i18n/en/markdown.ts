/** Words around what models write. */
import { define } from "@/i18n";

export const t = define("markdown", {
  picture: "Image:",
  code: "code",
  codeIn: "Code {language}",
  copyCode: "Copy code",
  table: "Table",
  taskDone: "Done:",
  taskOpen: "To do:",
});
