import { define } from "@/i18n";

export const t = define("attachments", {
  attach: "Attach pictures or PDF documents",
  attached: "Attached files",
  picture: "Picture {name}",
  pages: "{count, plural, one {# page} other {# pages}}",
  remove: "Remove {name}",
  uploading: "Uploading…",
  failed: "{name} was not attached",
  tooLarge: "It has more than 20 MB; make it smaller.",
  drop: "Drop the files anywhere to attach them.",
  withGoal: "Pictures and PDF documents: pick, paste or drop them.",
});
