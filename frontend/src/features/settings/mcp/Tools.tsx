import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/mcp";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { Select } from "@/ui/Select";
import { State } from "@/ui/State";

type Tool = Schema["McpChange"];
type Effect = Tool["effect"] | "off";

const STATES = {
  new: { kind: "ask", said: t("stateNew") },
  changed: { kind: "danger", said: t("stateChanged") },
  gone: { kind: "quiet", said: t("stateGone") },
  approved: { kind: "good", said: t("stateApproved") },
} as const;
const EFFECTS = (["send", "fetch", "read", "off"] as const).map((value) => ({ value, label: t(value) }));

/** A server's tools in its own words: those that wait first, with what changed. */
export function Tools({ name }: { name: string }) {
  const tools = useQuery({
    queryKey: ["mcp", name, "tools"],
    queryFn: () => data(api.GET("/mcp/{name}/tools", { params: { path: { name } } })),
  });
  const approve = useCommand((shown: Record<string, string>, key) =>
    data(api.POST("/mcp/{name}/approve", { params: { path: { name }, ...withKey(key) }, body: { tools: shown } })),
  );
  const choose = useCommand(([tool, effect]: [string, Effect], key) =>
    data(api.POST("/mcp/{name}/tools", { params: { path: { name }, ...withKey(key) }, body: { tool, effect } })),
  );
  const error = tools.error ?? approve.error ?? choose.error;
  return (
    <div className="grid gap-1">
      {tools.data?.items.map((tool) => (
        <Disclosure
          key={tool.tool}
          summary={<SafeText>{tool.tool}</SafeText>}
          aside={<State kind={STATES[tool.state].kind}>{STATES[tool.state].said}</State>}
          defaultOpen={tool.state === "changed"}
        >
          <div className="grid justify-items-start gap-2">
            <Words tool={tool} />
            {(tool.state === "new" || tool.state === "changed") && (
              <Button
                size="sm"
                busy={approve.isPending && t("approve")}
                onClick={() => approve.mutate({ [tool.tool]: tool.fingerprint })}
              >
                {t("approve")}
              </Button>
            )}
            {tool.state === "approved" && (
              <Select<Effect>
                size="sm"
                aria-label={t("effect", { tool: tool.tool })}
                items={EFFECTS}
                value={tool.effect}
                onValueChange={(effect) => choose.mutate([tool.tool, effect])}
              />
            )}
          </div>
        </Disclosure>
      ))}
      {error && <ErrorNote error={error} />}
    </div>
  );
}

function Words({ tool }: { tool: Tool }) {
  const claims = Object.entries(tool.claims)
    .map(([claim, on]) => `${claim}: ${on}`)
    .join(", ");
  return (
    <div className="grid max-w-measure gap-1 text-sm text-ink-2">
      <p className="font-medium">{t("words")}</p>
      <div className="whitespace-pre-wrap">
        <SafeText>{tool.diff?.length ? tool.diff.join("\n") : tool.description}</SafeText>
      </div>
      {claims && <SafeText>{t("claims", { claims })}</SafeText>}
    </div>
  );
}
