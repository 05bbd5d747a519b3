import type { t } from "@/i18n/en/attachments";
import { translation } from "@/i18n/translation";

export default translation<typeof t>()({
  attach: "Bilder oder PDFs anhängen",
  attached: "Angehängte Dateien",
  picture: "Bild {name}",
  pages: "{count, plural, one {# Seite} other {# Seiten}}",
  uploading: "Wird hochgeladen …",
  failed: "{name} konnte nicht angehängt werden",
  tooLarge: "Die Datei ist größer als 20 MB.",
  drop: "Dateien irgendwo ablegen, um sie anzuhängen.",
  withGoal: "Bilder und PDFs: auswählen, einfügen oder hierher ziehen.",
});
