/** A call's arguments as a form. What the person leaves there is theirs, and runs without another question. */
import { useMemo, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/approvals";
import { compact, type Json, parseJson, spread } from "@/story/json";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { revealed } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import { TextArea } from "@/ui/TextArea";

/**
 * @param text     the arguments: a JSON object, or whatever a model wrote instead, which is then edited as one text.
 * @param onClose  with whether it runs now.
 */
export function EditCall({
  session,
  call,
  text,
  onClose,
}: {
  session: string;
  call: string;
  text: string;
  onClose: (done: boolean) => void;
}) {
  const given = useMemo(() => fieldsOf(text), [text]);
  const [drafts, setDrafts] = useState<ReadonlyMap<string, string>>(new Map());
  const edit = useCommand((fresh: string, key) =>
    data(
      api.POST("/sessions/{session}/calls/{call}/edit", {
        params: { path: { session, call }, ...withKey(key) },
        body: { arguments: fresh },
      }),
    ),
  );
  const fields = given.map((field) => ({ ...field, draft: drafts.get(field.name) ?? field.text }));
  const wrong = fields.filter(({ words, draft }) => !words && parseJson(draft) === undefined);
  const changed = fields.some(({ text, draft }) => text !== draft);
  return (
    <ConfirmDialog
      keep
      size="lg"
      onClose={() => onClose(false)}
      title={t("editTitle")}
      description={t("editDetail")}
      kind="primary"
      disabled={wrong.length > 0 || !changed}
      busy={edit.isPending && t("editing")}
      onYes={() => edit.mutate(joined(fields), { onSuccess: () => onClose(true) })}
      yes={t("editGo")}
    >
      <div className="grid gap-3">
        {fields.map(({ name, words, draft }) => (
          <Field
            key={name}
            label={name ? <SafeText>{name}</SafeText> : t("arguments")}
            error={!words && parseJson(draft) === undefined ? t("editWrong") : undefined}
            hint={
              revealed(draft, true) === draft.replaceAll("\r\n", "\n") ? undefined : <SafeText lines>{draft}</SafeText>
            }
          >
            <TextArea
              mono
              rows={1}
              value={draft}
              onValueChange={(value) => setDrafts((was) => new Map(was).set(name, value))}
            />
          </Field>
        ))}
        <ErrorNote title={t("editFailed")} error={edit.error} />
      </div>
    </ConfirmDialog>
  );
}

interface FieldText {
  name: string;
  text: string;
  /** A string as it is, as opposed to JSON. */
  words: boolean;
}

function fieldsOf(text: string): readonly FieldText[] {
  const given = parseJson(text);
  if (!(given instanceof Map)) return [{ name: "", text, words: false }];
  return [...given].map(([name, value]) =>
    typeof value === "string" ? { name, text: value, words: true } : { name, text: spread(value), words: false },
  );
}

/** The form as JSON again; a number keeps every digit. */
function joined(fields: readonly (FieldText & { draft: string })[]): string {
  const [only] = fields;
  if (only?.name === "" && !only.words) return only.draft;
  return compact(new Map(fields.map(({ name, words, draft }) => [name, words ? draft : (parseJson(draft) as Json)])));
}
