/** Forgetting for good: first what would go, where it stands and what would stay; then, when that was read, the deed. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { useStreams } from "@/api/streams";
import { t } from "@/i18n/en/forgetting";
import { Checkbox } from "@/ui/Checkbox";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import { readAgain } from "./actions";
import { Waiting } from "./Waiting";

/** The client reads a pair as an array. */
type Preview = Omit<Schema["Preview"], "memories"> & { memories: string[][] };

export type Wanted = Schema["WantedForgotten"];

interface ForgetDialogProps {
  wanted: Wanted;
  onClose: () => void;
  /** It is done. */
  onForgotten: () => void;
}

const SHOWN = 50;

export function ForgetDialog({ wanted, onClose, onForgotten }: ForgetDialogProps) {
  const [sure, setSure] = useState(false);
  const preview = useQuery({
    queryKey: ["forgetting", wanted],
    queryFn: () => data(api.POST("/memories/forget/preview", { body: { ...wanted, nearly: "" } })),
    // What was looked at is what is agreed to.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const forget = useCommand((body: Wanted, key) => data(api.POST("/memories/forget", { params: withKey(key), body })));
  const act = () =>
    forget.mutate(wanted, {
      onSuccess: ({ text }) => {
        toast({ title: t("done"), detail: text, kind: "good" });
        onForgotten();
        return readAgain();
      },
    });
  return (
    <ConfirmDialog
      keep
      onClose={onClose}
      title={t("title", { count: wanted.memories.length || wanted.words.length })}
      description={t("about")}
      kind="destroy"
      icon="trash"
      disabled={!preview.data || !sure}
      busy={forget.isPending && t("forgetting")}
      onYes={act}
      yes={t("forget")}
    >
      {preview.error ? (
        <ErrorNote title={t("previewFailed")} error={preview.error} kept={t("nothingDone")} />
      ) : preview.data ? (
        <>
          <Shown preview={preview.data} />
          <div className="mt-5">
            <Checkbox label={t("sure")} hint={t("sureHint")} checked={sure} onCheckedChange={setSure} />
          </div>
        </>
      ) : (
        <Waiting label={t("looking")} />
      )}
      {forget.isPending && <Waiting label={t("forgetting")} />}
      <ErrorNote error={forget.error} />
    </ConfirmDialog>
  );
}

/** Memories, with every version of them and the words that they rest on. */
export function gone(ids: readonly string[]): Wanted {
  return { memories: [...ids], events: [], words: [], match: "any_case" };
}

function Shown({ preview }: { preview: Preview }) {
  const { memories } = preview;
  const rows = useStreams(preview.places.map((place) => place.session).filter((session) => session.startsWith("s_")));
  return (
    <div className="grid gap-4">
      {memories.length + preview.events === 0 && <p>{t("nowhere")}</p>}
      <section>
        <h3 className="font-semibold">{t("memories", { count: memories.length })}</h3>
        <ul className="mt-1 max-h-48 overflow-y-auto border-line border-s ps-3">
          {memories.slice(0, SHOWN).map(([id = "", text = ""]) => (
            <li key={id} className="py-0.5">
              <SafeText>{text}</SafeText>
            </li>
          ))}
        </ul>
        {memories.length > SHOWN && (
          <p className="text-ink-2 text-sm">{t("more", { count: memories.length - SHOWN })}</p>
        )}
      </section>
      {preview.events > 0 && (
        <Disclosure summary={t("events", { count: preview.events })} defaultOpen={preview.events <= 5}>
          <ul className="grid gap-2">
            {preview.places.map((place) => (
              <li key={place.seq}>
                <SafeText>{place.excerpt}</SafeText>
                <p className="flex flex-wrap gap-x-3 text-ink-2 text-sm">
                  <SafeText>{rows.get(place.session)?.title || place.session}</SafeText>
                  <code>{place.type}</code>
                  <Time at={place.ts_ms} />
                </p>
              </li>
            ))}
          </ul>
          {preview.events > preview.places.length && (
            <p className="mt-2 text-ink-2 text-sm">{t("more", { count: preview.events - preview.places.length })}</p>
          )}
        </Disclosure>
      )}
      {preview.kept.length > 0 && (
        <section>
          <h3 className="font-semibold">
            <State kind="ask">{t("kept")}</State>
          </h3>
          <ul className="mt-1 list-disc ps-5 text-ink-2">
            {preview.kept.map((line) => (
              <li key={line}>
                <SafeText>{line}</SafeText>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
