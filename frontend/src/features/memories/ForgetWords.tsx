import { type FormEvent, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand } from "@/api/queries";
import { t } from "@/i18n/en/forgetting";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { Input } from "@/ui/Input";
import { Panel } from "@/ui/Panel";
import { RadioGroup } from "@/ui/RadioGroup";
import { SafeText } from "@/ui/SafeText";
import { ForgetDialog, type Wanted } from "./ForgetDialog";

const LEAST = 3;
const HOW = ["any_case", "exact", "nearly"] as const;

/** Words that are to go wherever they stand: as they are, or picked from what nearly says them. */
export function ForgetWords() {
  const [words, setWords] = useState("");
  const [how, setHow] = useState<(typeof HOW)[number]>("any_case");
  const [tried, setTried] = useState(false);
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const near = useCommand((nearly: string) =>
    data(
      api.POST("/memories/forget/preview", {
        body: { memories: [], events: [], words: [], match: "any_case", nearly },
      }),
    ),
  );
  const short = Array.from(words.trim()).length < LEAST;

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    near.reset();
    if (short) return;
    if (how === "nearly") near.mutate(words.trim());
    else setWanted({ memories: [], events: [], words: [words.trim()], match: how });
  }

  return (
    <Panel title={t("byWords")} description={t("byWordsAbout")}>
      <form onSubmit={submit} noValidate className="grid max-w-180 gap-4">
        <Field label={t("words")} hint={t("wordsHint")} error={tried && short && t("wordsShort")}>
          <Input value={words} onValueChange={setWords} maxLength={1000} />
        </Field>
        <RadioGroup
          label={t("how")}
          items={HOW.map((value) => ({ value, label: t(value) }))}
          value={how}
          onValueChange={setHow}
        />
        <div>
          <Button type="submit" busy={near.isPending && t("searching")}>
            {t("find")}
          </Button>
        </div>
      </form>
      <ErrorNote title={t("nearFailed")} error={near.error} kept={t("nothingDone")} />
      {near.data && (
        <Near
          key={near.data.words.join("\n")}
          found={near.data.words}
          onPick={(picked) => setWanted({ memories: [], events: [], words: picked, match: "exact" })}
        />
      )}
      {wanted && (
        <ForgetDialog
          wanted={wanted}
          onClose={() => setWanted(null)}
          onForgotten={() => {
            setWanted(null);
            setWords("");
            setTried(false);
            near.reset();
          }}
        />
      )}
    </Panel>
  );
}

function Near({ found, onPick }: { found: readonly string[]; onPick: (words: string[]) => void }) {
  const [picked, setPicked] = useState<readonly string[]>([]);
  if (found.length === 0) return <p className="mt-4">{t("nearNone")}</p>;
  return (
    <fieldset className="mt-4 grid max-w-180 gap-2">
      <legend className="mb-2 font-medium">{t("nearPick")}</legend>
      {found.map((words) => (
        <Checkbox
          key={words}
          label={<SafeText>{words}</SafeText>}
          checked={picked.includes(words)}
          onCheckedChange={(on) => setPicked(on ? [...picked, words] : picked.filter((one) => one !== words))}
        />
      ))}
      <div>
        <Button disabled={picked.length === 0} onClick={() => onPick([...picked])}>
          {t("nearGo")}
        </Button>
      </div>
    </fieldset>
  );
}
