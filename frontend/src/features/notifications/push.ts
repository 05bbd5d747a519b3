/** Push messages: what this browser can, and asking its push service for an address that Stead may send to. */
import { api, data, newKey } from "@/api/client";
import { withKey } from "@/api/queries";

export const canPush = () => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/**
 * Have this browser notified while the page is closed. Asks the browser's own permission.
 *
 * @returns  whether it is so now; not where the person said no to the browser.
 */
export async function subscribePush(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const worker = await navigator.serviceWorker.register("/push.js", { scope: "/" });
  const { key } = await data(api.GET("/push-key"));
  const asked = { userVisibleOnly: true, applicationServerKey: key };
  const subscribed = (await worker.pushManager.getSubscription()) ?? (await worker.pushManager.subscribe(asked));
  const { endpoint = "", keys = {} } = subscribed.toJSON();
  const { p256dh = "", auth = "" } = keys;
  const body = { name: browserName(), endpoint, p256dh, auth };
  await data(api.POST("/notifications/push", { params: withKey(newKey()), body }));
  return true;
}

/** A name for this browser that stays the same. */
function browserName(): string {
  const kept = localStorage.getItem("stead.push");
  const name = kept ?? `browser-${Math.random().toString(36).slice(2, 8)}`;
  localStorage.setItem("stead.push", name);
  return name;
}
