import { define } from "@/i18n";

export const t = define("attachments", {
  attach: "Attach images or PDFs",
  attached: "Attached files",
  picture: "Image {name}",
  pages: "{count, plural, one {# page} other {# pages}}",
  remove: "Remove {name}",
  uploading: "Uploading…",
  failed: "Couldn’t attach it",
});
