/** What a session would be told for some words: line by line, why, and what was left out. What is asked is in the address. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/memory-views";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { formatDuration } from "@/ui/format";
import { Input } from "@/ui/Input";
import { Panel } from "@/ui/Panel";
import { TextArea } from "@/ui/TextArea";
import { Legs } from "./Legs";
import { Loaded } from "./Loaded";
import { ToldLine } from "./ToldLine";
import { Waiting } from "./Waiting";

/** As many as a session is told unasked. */
const MOST = 10;
const LONGEST = 4_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

interface Asked {
  q: string;
  folder: string;
  /** Nobody works in it: an objective. */
  alone: boolean;
  strangers: boolean;
  /** `YYYY-MM-DD` of the person's own calendar, "" for now. */
  on: string;
}

export function Told() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const asked = askedOf(search);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
      <Form key={JSON.stringify(asked)} asked={asked} />
      {asked.q && <Answer asked={asked} />}
      <Loaded directory={asked.folder} attended={!asked.alone} />
    </div>
  );
}

function askedOf({ q, folder, alone, strangers, on }: Readonly<Record<string, unknown>>): Asked {
  return {
    q: q === undefined ? "" : String(q).slice(0, LONGEST),
    folder: typeof folder === "string" && folder.startsWith("/") ? folder : "",
    alone: alone === true,
    strangers: strangers === true,
    on: typeof on === "string" && DAY.test(on) ? on : "",
  };
}

function Form({ asked }: { asked: Asked }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(asked);
  const change = (part: Partial<Asked>) => setDraft({ ...draft, ...part });

  function submit(event: FormEvent) {
    event.preventDefault();
    const search = Object.fromEntries(Object.entries(draft).filter(([, value]) => value));
    void navigate({ to: "/memories", search: { view: "told", ...search } as never });
  }

  return (
    <form onSubmit={submit} noValidate className="grid max-w-220 gap-4">
      <p className="max-w-measure text-ink-2">{t("toldAbout")}</p>
      <Field label={t("message")} hint={t("queryHint")}>
        <TextArea
          rows={2}
          value={draft.q}
          onValueChange={(q) => change({ q })}
          maxLength={LONGEST}
          placeholder={t("queryPlaceholder")}
        />
      </Field>
      <FolderPicker
        label={t("folder")}
        hint={t("inFolderHint")}
        value={draft.folder}
        onChange={(folder) => change({ folder })}
      />
      <div className="grid gap-x-8 gap-y-3 md:grid-cols-3">
        <Checkbox
          label={t("attended")}
          hint={t("attendedHint")}
          checked={!draft.alone}
          onCheckedChange={(attended) => change({ alone: !attended })}
        />
        <Checkbox
          label={t("strangers")}
          hint={t("strangersHint")}
          checked={draft.strangers}
          onCheckedChange={(strangers) => change({ strangers })}
        />
        <Field label={t("asOf")} hint={t("asOfHint")}>
          <Input type="date" value={draft.on} onValueChange={(on) => change({ on })} />
        </Field>
      </div>
      <div>
        <Button type="submit" kind="primary">
          {t("show")}
        </Button>
      </div>
    </form>
  );
}

function Answer({ asked }: { asked: Asked }) {
  const { data: recalled, error } = useQuery({
    queryKey: ["memories", "told", asked],
    queryFn: () =>
      data(
        api.GET("/memories/recall", {
          params: {
            query: {
              query: asked.q,
              directory: asked.folder,
              attended: !asked.alone,
              trusted: !asked.strangers,
              as_of_ms: endOf(asked.on),
              limit: MOST,
            },
          },
        }),
      ),
  });
  if (error) return <ErrorNote title={t("toldFailed")} error={error} />;
  if (!recalled) return <Waiting label={t("waiting")} />;
  const { hits, legs, withheld } = recalled;
  return (
    <Panel
      title={t("toldList")}
      description={t("toldCount", {
        count: hits.length,
        most: MOST,
        duration: formatDuration(recalled.duration_ms / 1000),
      })}
    >
      {hits.length === 0 ? (
        <Empty title={t("toldNothing")}>{t("toldNothingWhy")}</Empty>
      ) : (
        <ol aria-label={t("toldList")} className="border-line border-t">
          {hits.map((hit) => (
            <ToldLine key={hit.ref} hit={hit} />
          ))}
        </ol>
      )}
      {withheld > 0 && <p className="mt-3 max-w-measure text-ink-2">{t("withheld", { count: withheld })}</p>}
      <div className="mt-5">
        <Legs legs={legs} />
      </div>
    </Panel>
  );
}

/** The last moment of a day; 0 for now. */
function endOf(day: string): number {
  const at = day ? Date.parse(`${day}T23:59:59.999`) : 0;
  return Number.isNaN(at) ? 0 : at;
}
