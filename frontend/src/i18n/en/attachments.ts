import { define } from "@/i18n";

export const t = define("attachments", {
  attach: "Attach pictures or PDF documents",
  attached: "Attached files",
  picture: "Picture {name}",
  pages: "{count, plural, one {# page} other {# pages}}",
  remove: "Remove {name}",
  uploading: "Uploading…",
  failed: "It was not attached",
});
