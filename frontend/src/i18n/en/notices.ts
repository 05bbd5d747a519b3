import { define } from "@/i18n";

export const t = define("notices", {
  title: "Notifications",
  none: "No notifications.",
  asks: "Something waits for you",
  answer: "Answer it",
  look: "Look",
  clear: "Clear the list",
  answered: "Answered: {title}",
  verified: "Verified: {title}",
  unverified: "Done, unverified: {title}",
  incomplete: "Incomplete: {title}",
  failed: "Failed: {title}",
  cancelled: "Cancelled: {title}",
  unseen: "{count, plural, =0 {Notifications} one {Notifications, # new} other {Notifications, # new}}",
  review: "Changes wait for your review: {title}",
});
