import { sourceName, whence } from "@/features/approvals/words";
import { t } from "@/i18n/en/audit";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Tainted } from "@/ui/Tainted";
import type { Decision } from "./decisions";
import { furtherOf } from "./further";

const LEVELS = { person: "levelPerson", trusted: "levelTrusted", untrusted: "levelUntrusted" } as const;

/** Where each argument came from, as far as it can be shown, and what the session had read by then. */
export function Values({ decision }: { decision: Decision }) {
  const { origins, sources } = furtherOf(decision);
  return (
    <Panel title={t("values")} description={origins.length > 0 ? t("valuesWhy") : undefined}>
      {origins.length > 0 ? (
        <ul className="border-t border-line">
          {origins.map((origin) => (
            <li
              key={`${origin.argument} ${origin.source}`}
              className="flex flex-wrap items-center gap-x-4 gap-y-0.5 border-b border-line/60 py-1.5 md:grid md:grid-cols-[minmax(8rem,14rem)_9rem_minmax(0,1fr)]"
            >
              <SafeText mono className="font-medium">
                {origin.argument}
              </SafeText>
              {origin.integrity === "untrusted" && !origin.source ? (
                <span className="text-ink-2">{whence(origin)}</span>
              ) : origin.integrity === "untrusted" ? (
                <Tainted origins={[whence(origin)]} word className="justify-self-start" />
              ) : (
                <span className="text-ink-2">{t(LEVELS[origin.integrity])}</span>
              )}
              {origin.integrity === "untrusted" && origin.source && (
                <span className="text-ink-2">
                  <SafeText>{whence(origin)}</SafeText>
                </span>
              )}
            </li>
          ))}
        </ul>
      ) : (
        <p className="text-ink-2">{t("noValues")}</p>
      )}
      {sources.length > 0 && (
        <p className="mt-2 max-w-measure">
          {t("readBefore")} <SafeText>{sources.map(sourceName).join(", ")}</SafeText>{" "}
          <Tainted origins={sources.map(sourceName)} />
        </p>
      )}
    </Panel>
  );
}
