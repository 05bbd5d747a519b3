/** Words around what models write. */
import { define } from "@/i18n";

export const t = define("markdown", {
  picture: "Picture:",
  code: "code",
  codeIn: "Code {language}",
  copyCode: "Copy the code",
  table: "Table",
});
