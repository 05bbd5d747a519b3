/** Push messages: what this browser can, and asking its push service for an address that Stead may send to. */
import { api, data, newKey } from "@/api/client";
import { withKey } from "@/api/queries";

/** The page's policy lets one string be a script's address; browsers without Trusted Types take the string itself. */
const types = (window as { trustedTypes?: { createPolicy: (name: string, rules: object) => Policy } }).trustedTypes;
interface Policy {
  createScriptURL: (text: string) => string;
}
const WORKER = "/push.js";
const worker = types?.createPolicy("stead-push", { createScriptURL: () => WORKER });

export const canPush = () => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/**
 * Have this browser notified while the page is closed. Asks the browser's own permission.
 *
 * @returns  whether it is so now; not where the person said no to the browser.
 */
export async function subscribePush(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  const registered = await registerWorker();
  const { key } = await data(api.GET("/push-key"));
  const asked = { userVisibleOnly: true, applicationServerKey: key };
  const subscribed =
    (await registered.pushManager.getSubscription()) ?? (await registered.pushManager.subscribe(asked));
  const { endpoint = "", keys = {} } = subscribed.toJSON();
  const { p256dh = "", auth = "" } = keys;
  const body = { name: browserName(), endpoint, p256dh, auth };
  await data(api.POST("/notifications/push", { params: withKey(newKey()), body }));
  return true;
}

/** Have the browser keep the worker of push messages, and wait until it is there. */
export async function registerWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(worker?.createScriptURL(WORKER) ?? WORKER, { scope: "/" });
  return navigator.serviceWorker.ready;
}

/** A name for this browser that stays the same. */
function browserName(): string {
  const kept = localStorage.getItem("stead.push");
  const name = kept ?? `browser-${Math.random().toString(36).slice(2, 8)}`;
  localStorage.setItem("stead.push", name);
  return name;
}
