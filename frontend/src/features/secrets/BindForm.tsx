import { type FormEvent, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/secrets";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { RadioGroup } from "@/ui/RadioGroup";
import { Switch } from "@/ui/Switch";

type Wanted = Schema["NewBinding"]["binding"];

const FRESH = {
  kind: "host" as "host" | "tool",
  host: "",
  methods: "",
  path: "/",
  place: "header",
  tls: true,
  tool: "",
  argument: "",
};

export function BindForm({ name, onDone }: { name: string; onDone: () => Promise<void> }) {
  const [draft, setDraft] = useState(FRESH);
  const [tried, setTried] = useState(false);
  const change = (next: Partial<typeof FRESH>) => setDraft({ ...draft, ...next });
  const bind = useCommand((binding: Wanted, key) =>
    data(
      api.POST("/secrets/{secret}/bindings", {
        params: { path: { secret: name }, ...withKey(key) },
        body: { binding },
      }),
    ),
  );
  const missing = draft.kind === "host" ? !draft.host.trim() : !draft.tool.trim() || !draft.argument.trim();

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (missing) return;
    bind.mutate(wantedOf(draft), {
      onSuccess: () => {
        setDraft(FRESH);
        setTried(false);
        return onDone();
      },
    });
  }

  return (
    <form onSubmit={submit} noValidate className="grid gap-4 pt-1">
      <RadioGroup<"host" | "tool">
        label={t("kind")}
        across
        items={[
          { value: "host", label: t("kindHost") },
          { value: "tool", label: t("kindTool") },
        ]}
        value={draft.kind}
        onValueChange={(kind) => change({ kind })}
      />
      {draft.kind === "host" ? (
        <>
          <Field label={t("host")} hint={t("hostHint")} error={tried && missing && t("hostMissing")}>
            <Input mono value={draft.host} onValueChange={(host) => change({ host })} placeholder="api.example.com" />
          </Field>
          <div className="grid gap-4 md:grid-cols-2">
            <Field label={t("methods")} hint={t("methodsHint")} optional>
              <Input mono value={draft.methods} onValueChange={(methods) => change({ methods })} />
            </Field>
            <Field label={t("path")} hint={t("pathHint")}>
              <Input mono value={draft.path} onValueChange={(path) => change({ path })} />
            </Field>
          </div>
          <Field label={t("place")} hint={t("placeHint")}>
            <Input mono value={draft.place} onValueChange={(place) => change({ place })} />
          </Field>
          <Switch label={t("tls")} hint={t("tlsHint")} checked={draft.tls} onCheckedChange={(tls) => change({ tls })} />
          <p className="text-ink-2 text-sm">{t("bindWhy")}</p>
        </>
      ) : (
        <div className="grid gap-4 md:grid-cols-2">
          <Field label={t("tool")} hint={t("toolHint")} error={tried && missing && t("toolMissing")}>
            <Input mono value={draft.tool} onValueChange={(tool) => change({ tool })} />
          </Field>
          <Field label={t("argument")} hint={t("argumentHint")}>
            <Input mono value={draft.argument} onValueChange={(argument) => change({ argument })} />
          </Field>
        </div>
      )}
      <ErrorNote error={bind.error} />
      <div>
        <Button type="submit" kind="primary" busy={bind.isPending && `${t("binding")}…`}>
          {t("bind")}
        </Button>
      </div>
    </form>
  );
}

function wantedOf(draft: typeof FRESH): Wanted {
  if (draft.kind === "tool") return { type: "tool", tool: draft.tool.trim(), argument: draft.argument.trim() };
  const methods = draft.methods
    .toUpperCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  return {
    type: "host",
    host: draft.host.trim().toLowerCase(),
    methods,
    path: draft.path.trim() || "/",
    tls: draft.tls,
    place: draft.place.trim() || "header",
  };
}
