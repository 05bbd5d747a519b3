import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { api, data, newKey, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { formatDuration } from "@/ui/format";
import { Input } from "@/ui/Input";
import { Panel } from "@/ui/Panel";
import { RadioGroup } from "@/ui/RadioGroup";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { State } from "@/ui/State";
import { toast } from "@/ui/Toasts";

type Engine = Schema["NewSearch"]["engine"];

export function SearchSection() {
  const setup = useQuery({ queryKey: ["web-search"], queryFn: () => data(api.GET("/web-search")) });
  return (
    <Panel title={t("searchTitle")} description={t("searchAbout")}>
      {setup.error && !setup.data ? (
        <ErrorNote error={setup.error} />
      ) : setup.data ? (
        <div className="grid gap-6">
          <Form key={setup.data.engine + setup.data.url} setup={setup.data} />
          {setup.data.engine && <TryIt key={setup.data.engine + setup.data.url + setup.data.key} />}
        </div>
      ) : (
        <Skeleton lines={6} />
      )}
    </Panel>
  );
}

function Form({ setup }: { setup: Schema["SearchSetup"] }) {
  const [engine, setEngine] = useState<Engine | "none">((setup.engine || "none") as Engine | "none");
  const [url, setUrl] = useState(setup.url);
  const [tried, setTried] = useState(false);
  const key = useRef<HTMLInputElement>(null);
  const kept = setup.engine === engine && setup.key !== "none" && setup.key !== "missing";
  // The key is read from its field when it is sent, and is no part of what this page remembers of the request.
  const save = useCommand(async (wanted: { engine: Engine; url: string }) => {
    const typed = key.current?.value.trim() ?? "";
    const answer = await data(api.POST("/web-search", { params: withKey(newKey()), body: { ...wanted, key: typed } }));
    if (key.current) key.current.value = "";
    return answer;
  });
  const remove = useCommand((_: "none", key) => data(api.DELETE("/web-search", { params: withKey(key) })));
  const after = {
    onSuccess: () => {
      toast({ title: t("saved"), kind: "good" });
      return queries.invalidateQueries({ queryKey: ["web-search"] });
    },
  };

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (engine === "none") return remove.mutate("none", after);
    const missing = engine === "searxng" ? !url.trim() : !kept && !key.current?.value.trim();
    if (!missing) save.mutate({ engine, url: url.trim() }, after);
  }

  const error = save.error ?? remove.error;
  return (
    <form onSubmit={submit} noValidate className="grid max-w-120 gap-4">
      <RadioGroup<Engine | "none">
        label={t("engine")}
        items={[
          { value: "none", label: t("noneOfAll"), hint: t("engineNoneHint") },
          { value: "searxng", label: t("searxng"), hint: t("searxngHint") },
          { value: "brave", label: t("brave"), hint: t("braveHint") },
          { value: "tavily", label: t("tavily"), hint: t("tavilyHint") },
        ]}
        value={engine}
        onValueChange={(next) => {
          setEngine(next);
          setUrl(next === setup.engine ? setup.url : "");
          setTried(false);
        }}
      />
      {engine !== "none" && (
        <Field
          label={t("address")}
          hint={t(engine === "searxng" ? "addressHint" : "addressOwn")}
          optional={engine !== "searxng"}
          error={tried && engine === "searxng" && !url.trim() && t("addressMissing")}
        >
          <Input mono type="url" value={url} onValueChange={setUrl} />
        </Field>
      )}
      {(engine === "brave" || engine === "tavily") && (
        <Field
          key={engine}
          label={t("key")}
          hint={t(kept ? "keyKept" : "keyHint")}
          optional={kept}
          error={tried && !kept && !save.isPending && !save.isSuccess && !key.current?.value && t("keyMissing")}
        >
          <Input ref={key} type="password" mono autoComplete="new-password" data-1p-ignore="" data-lpignore="true" />
        </Field>
      )}
      {error && <ErrorNote error={error} />}
      <div className="flex items-center gap-3">
        <Button
          type="submit"
          kind="primary"
          disabled={engine === "none" && !setup.engine}
          busy={(save.isPending || remove.isPending) && `${t("saving")}…`}
        >
          {t("save")}
        </Button>
      </div>
    </form>
  );
}

function TryIt() {
  const trial = useCommand(() => data(api.POST("/web-search/test", { body: {} })));
  const { data: check } = trial;
  return (
    <div className="grid max-w-measure justify-items-start gap-2 border-line border-t pt-4">
      <Button busy={trial.isPending && `${t("checking")}…`} onClick={() => trial.mutate(undefined)}>
        {t("trySearch")}
      </Button>
      <div role="status">
        {check?.ok && (
          <State kind="good" wrap>
            {t("searchWorks", { count: check.results, duration: formatDuration(check.duration_ms / 1000) })}
          </State>
        )}
        {check && !check.ok && (
          <ErrorNote title={t("searchFails")}>
            <SafeText>{check.text}</SafeText>
          </ErrorNote>
        )}
        <ErrorNote error={trial.error} />
      </div>
    </div>
  );
}
