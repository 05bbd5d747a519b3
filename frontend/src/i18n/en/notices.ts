import { define } from "@/i18n";

export const t = define("notices", {
  none: "No notifications.",
  answer: "Review",
  look: "View",
  clear: "Clear all",
  answered: "Answered: {title}",
  verified: "Verified: {title}",
  unverified: "Unverified: {title}",
  incomplete: "Incomplete: {title}",
  failed: "Failed: {title}",
  cancelled: "Cancelled: {title}",
  unseen: "{count, plural, =0 {Notifications} one {Notifications, # new} other {Notifications, # new}}",
  review: "Changes need your review: {title}",
});
