import { t } from "@/i18n/en/models";
import type { StateKind } from "@/ui/State";
import type { Provider } from "./connecting";

/** Where a provider's key is, in words, and whether that is well. */
export function keyWords({ key }: Pick<Provider, "key">): { kind: StateKind; text: string } {
  if (key === "none") return { kind: "quiet", text: t("keyNone") };
  if (key === "vault") return { kind: "good", text: t("keyVault") };
  if (key === "missing") return { kind: "danger", text: t("keyGone") };
  const [, name = "", rest = ""] = /^env:(\S+) \((.*)\)$/.exec(key) ?? [];
  return rest === "set"
    ? { kind: "good", text: t("keyEnv", { name }) }
    : { kind: "danger", text: t("keyEnvGone", { name }) };
}

/** Whether the key that it needs is there. */
export function hasKey(row: Pick<Provider, "key">): boolean {
  return keyWords(row).kind !== "danger";
}

/** Whether a name of a provider can be. */
export function isName(name: string): boolean {
  return /^[a-z0-9-]{1,32}$/.test(name);
}
