import { define } from "@/i18n";

export const t = define("attachments", {
  attach: "Attach images or PDFs",
  attached: "Attached files",
  picture: "Image {name}",
  pages: "{count, plural, one {# page} other {# pages}}",
  uploading: "Uploading…",
  failed: "Couldn’t attach {name}",
  tooLarge: "It is larger than 20 MB.",
  drop: "Drop the files anywhere to attach them.",
  withGoal: "Images and PDFs: choose, paste or drop them.",
});
