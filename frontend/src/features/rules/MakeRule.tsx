/** A sentence becomes a rule, or is refused with the forms that are understood. */
import { type FormEvent, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/rules";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Input } from "@/ui/Input";
import { toast } from "@/ui/Toasts";

/** Forms of the daemon's grammar, which is English whatever the page's language is. */
const EXAMPLES = [
  "never change infra/",
  "never run `rm`",
  "ask before running `make`",
  "only fetch from docs.example.com",
  "only change files in src/",
  "always allow running `pytest`",
];

export function MakeRule() {
  const [text, setText] = useState("");
  const [narrow, setNarrow] = useState(false);
  const [directory, setDirectory] = useState("");
  const [tried, setTried] = useState(false);
  const make = useCommand((body: Schema["Sentence"], key) => data(api.POST("/rules", { params: withKey(key), body })));

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (!text.trim() || (narrow && !directory.trim())) return;
    make.mutate(
      { text: text.trim(), directory: narrow ? directory.trim() : "" },
      {
        onSuccess: () => {
          setText("");
          setTried(false);
          toast({ title: t("made"), detail: text.trim(), kind: "good" });
          return queries.invalidateQueries({ queryKey: ["rules"] });
        },
      },
    );
  }

  return (
    <form onSubmit={submit} noValidate className="grid max-w-180 gap-3">
      <div className="grid items-start gap-2 md:grid-cols-[minmax(0,1fr)_auto]">
        <Field label={t("say")} hint={t("sayHint")} error={tried && !text.trim() && t("sayMissing")}>
          <Input value={text} onValueChange={setText} placeholder={t("placeholder")} maxLength={500} />
        </Field>
        <Button type="submit" kind="primary" className="md:mt-5.5" busy={make.isPending && `${t("making")}…`}>
          {t("make")}
        </Button>
      </div>
      <fieldset className="flex flex-wrap items-center gap-1.5">
        <legend className="float-left mr-1 text-ink-2 text-sm">{t("examples")}</legend>
        {EXAMPLES.map((example) => (
          <Button key={example} size="sm" kind="quiet" onClick={() => setText(example)}>
            <code lang="en">{example}</code>
          </Button>
        ))}
      </fieldset>
      <Checkbox label={t("onlyFolder")} checked={narrow} onCheckedChange={setNarrow} />
      {narrow && <FolderPicker value={directory} onChange={setDirectory} />}
      {make.error && <ErrorNote error={make.error} />}
    </form>
  );
}
