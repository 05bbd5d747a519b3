/** A rule from a sentence or from the form. What it would do is shown first; nothing holds before a yes. */
import { useMutation } from "@tanstack/react-query";
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
import { Preview } from "./Preview";
import { RuleForm } from "./RuleForm";
import { formOf, type Rule } from "./words";

/** One of each kind; the daemon's grammar also reads German, French and Spanish. */
const EXAMPLES = [
  "never change files outside src/",
  "never run `git push --force`",
  "ask before running `make`",
  "never use the network",
  "always allow `git status`",
];

export const NEW_RULE: Rule = {
  id: "",
  decision: "ask",
  what: [],
  tools: [],
  where: [],
  directory: "",
  expires_at_ms: 0,
  text: "",
  confirmed: false,
};

/** `replaced`: a rule that is changed, in whose place the new one comes; `made` is called once it is. */
export function MakeRule({ replaced, made }: { replaced?: Rule; made?: () => void }) {
  const [text, setText] = useState("");
  const [form, setForm] = useState<Rule | null>(replaced ? formOf(replaced) : null);
  const [narrow, setNarrow] = useState(Boolean(replaced?.directory));
  const [directory, setDirectory] = useState(replaced?.directory ?? "");
  const [tried, setTried] = useState(false);
  const preview = useMutation({
    mutationFn: (body: Schema["WantedRule"]) => data(api.POST("/rules/preview", { body })),
  });
  const make = useCommand((body: Schema["Sentence"], key) => data(api.POST("/rules", { params: withKey(key), body })));
  const folder = narrow ? directory.trim() : "";

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if ((!form && !text.trim()) || (narrow && !folder)) return;
    preview.mutate(
      form
        ? { text: "", directory: folder, rule: { ...form, directory: folder } }
        : { text: text.trim(), directory: folder, rule: null },
    );
  }

  function confirm(rule: Rule) {
    make.mutate(
      { rule, text: "", directory: rule.directory, confirmed: true, replaces: replaced?.id ?? "" },
      {
        onSuccess: () => {
          setText("");
          setForm(null);
          setTried(false);
          preview.reset();
          toast({ title: t("ruleMade"), kind: "good" });
          made?.();
          return queries.invalidateQueries({ queryKey: ["rules"] });
        },
      },
    );
  }

  return (
    <div className="grid max-w-180 gap-3">
      <form onSubmit={submit} noValidate className="grid gap-3">
        {form ? (
          <RuleForm rule={form} onChange={setForm} />
        ) : (
          <Field label={t("say")} hint={t("sayHint")} error={tried && !text.trim() && t("sayMissing")}>
            <Input value={text} onValueChange={setText} placeholder={t("placeholder")} maxLength={500} />
          </Field>
        )}
        {!form && (
          <fieldset className="flex flex-wrap items-center gap-1.5">
            <legend className="float-start me-2 text-ink-2 text-sm">{t("examples")}</legend>
            {EXAMPLES.map((example) => (
              <Button key={example} size="sm" onClick={() => setText(example)}>
                <code lang="en">{example}</code>
              </Button>
            ))}
          </fieldset>
        )}
        <Checkbox label={t("onlyFolder")} checked={narrow} onCheckedChange={setNarrow} />
        {narrow && <FolderPicker value={directory} onChange={setDirectory} />}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" busy={preview.isPending && t("making")}>
            {t("look")}
          </Button>
          <Button kind="quiet" onClick={() => setForm(form ? null : NEW_RULE)}>
            {t(form ? "bySentence" : "byForm")}
          </Button>
        </div>
      </form>
      <ErrorNote error={preview.error} />
      {preview.data && (
        <Preview
          preview={preview.data}
          onConfirm={confirm}
          onForm={(rule) => {
            setForm(rule);
            preview.reset();
          }}
          busy={make.isPending}
        />
      )}
      <ErrorNote error={make.error} />
    </div>
  );
}
