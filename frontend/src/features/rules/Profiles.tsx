import type { ReactNode } from "react";
import { t } from "@/i18n/en/rules";
import { Panel } from "@/ui/Panel";
import { Tried } from "./Tried";

const LEVELS = [
  ["auto", "autoAsks", "autoCalls"],
  ["session", "sessionAsks", "sessionCalls"],
  ["each", "eachAsks", "eachCalls"],
  ["confirm", "confirmAsks", "confirmCalls"],
] as const;

const PROFILES = [
  ["work_", "workChanges", "work"],
  ["ask_", "askChanges", "ask"],
  ["readonly_", "readonlyChanges", "readonly"],
] as const;

/** How strict Stead is by itself; the words are those of the security model. */
export function Profiles() {
  return (
    <Panel title={t("profiles")} description={t("profilesAbout")}>
      <div className="grid gap-8">
        <Plain heads={[t("level"), t("levelAsks"), t("levelCalls")]} caption={t("profiles")}>
          {LEVELS.map(([name, asks, calls]) => (
            <tr key={name} className="border-line border-b align-top">
              <th scope="row" className="py-2 pe-2 md:pe-4 text-start font-medium">
                <code>{t(name)}</code>
              </th>
              <td className="py-2 pe-2 md:pe-4">{t(asks)}</td>
              <td className="py-2 text-ink-2">{t(calls)}</td>
            </tr>
          ))}
        </Plain>
        <div>
          <Plain heads={[t("profile"), t("profileChanges")]} caption={t("profile")}>
            {PROFILES.map(([name, changes, profile]) => (
              <tr key={name} className="border-line border-b align-top">
                <th scope="row" className="whitespace-nowrap py-2 pe-2 md:pe-4 text-start font-medium">
                  <code>{t(name)}</code>
                </th>
                <td className="py-2 text-ink-2">
                  {t(changes)}
                  <Tried profile={profile} />
                </td>
              </tr>
            ))}
          </Plain>
          <p className="mt-2 text-ink-2 text-sm">{t("profileWhere")}</p>
        </div>
      </div>
    </Panel>
  );
}

function Plain({ heads, caption, children }: { heads: string[]; caption: string; children: ReactNode }) {
  return (
    <table className="w-full max-w-220 border-collapse">
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr className="border-line border-b">
          {heads.map((head) => (
            <th key={head} scope="col" className="py-1.5 pe-2 md:pe-4 text-start font-normal text-ink-2 text-sm">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
