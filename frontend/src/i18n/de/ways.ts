import type { t } from "@/i18n/en/ways";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  alias: "den Namen",
  words: "die Wörter",
  meaning: "die Bedeutung",
  neighbour: "Kontext in der Nähe",
  session: "die Sitzung",
  speaker: "wer es gesagt hat",
  person: "die Person, um die es geht",
});
