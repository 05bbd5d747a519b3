/** How sessions and objectives stand; the rail is there before their pages are. */
import { define } from "@/i18n";

export const t = define("status", {
  idle: "Idle",
  running: "Running",
  waiting: "Needs approval",
  closed: "Closed",
  pending: "Starting",
  answered: "Answered",
  verified: "Verified",
  unverified: "Unverified",
  incomplete: "Incomplete",
  cancelled: "Cancelled",
});
