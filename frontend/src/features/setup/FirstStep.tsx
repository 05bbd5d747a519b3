/** The third step: a folder and a goal, with suggestions, and then the work itself until it is really answered. */
import { type FormEvent, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/setup";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { formatTokens, formatUsd } from "@/ui/format";
import { TextArea } from "@/ui/TextArea";

const BUDGET: Schema["Budget"] = { tokens: 400_000, usd_micros: 1_000_000 };
const LIMITS: Schema["Limits"] = {
  iterations: 50,
  stall: 3,
  repetition: 3,
  wall_s: 14_400,
  send_backs: 3,
  calls: 10_000,
};

const SUGGESTED = [
  ["sugOverview", "sugOverviewGoal"],
  ["sugReadme", "sugReadmeGoal"],
  ["sugSizes", "sugSizesGoal"],
  ["sugTodo", "sugTodoGoal"],
] as const;

/** What the rehearsal model understands. */
const REHEARSED = [
  ["sugList", "sugListGoal"],
  ["sugCount", "sugCountGoal"],
  ["sugHello", "sugHelloGoal"],
] as const;

export function FirstStep({ rehearsal, onStarted }: { rehearsal: boolean; onStarted: (id: string) => void }) {
  const suggestions = rehearsal ? REHEARSED : SUGGESTED;
  const [goal, setGoal] = useState(() => t(suggestions[0][1]));
  const [directory, setDirectory] = useState("");
  const [tried, setTried] = useState(false);
  const start = useCommand((body: Schema["NewObjective"], key) =>
    data(api.POST("/objectives", { params: withKey(key), body })),
  );

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (!goal.trim() || !directory.trim() || start.isPending) return;
    start.mutate(objective(goal.trim(), directory.trim()), { onSuccess: (answer) => onStarted(answer.session) });
  }

  return (
    <form onSubmit={submit} noValidate className="grid max-w-140 gap-5">
      <p className="text-ink-2">{t("firstAbout")}</p>
      <FolderPicker
        value={directory}
        onChange={setDirectory}
        error={tried && !directory.trim() ? t("folderMissing") : undefined}
      />
      <div className="grid gap-2">
        <Field label={t("goal")} hint={t("goalHint")} error={tried && !goal.trim() ? t("goalMissing") : undefined}>
          <TextArea rows={3} value={goal} onValueChange={setGoal} />
        </Field>
        <fieldset className="flex flex-wrap items-center gap-1.5">
          <legend className="float-start me-1 text-ink-2 text-sm">{t("suggestions")}</legend>
          {suggestions.map(([name, words]) => (
            <Button key={name} size="sm" aria-pressed={goal === t(words)} onClick={() => setGoal(t(words))}>
              {t(name)}
            </Button>
          ))}
        </fieldset>
      </div>
      <ErrorNote error={start.error} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button type="submit" kind="primary" busy={start.isPending && `${t("starting")}…`}>
          {t("start")}
        </Button>
        <p className="text-ink-2 text-sm">
          {rehearsal
            ? t("limitsFree")
            : t("limits", { tokens: formatTokens(Number(BUDGET.tokens)), money: formatUsd(Number(BUDGET.usd_micros)) })}
        </p>
      </div>
    </form>
  );
}

function objective(goal: string, directory: string): Schema["NewObjective"] {
  return {
    attachments: [],
    context: [],
    goal,
    directory,
    title: "",
    constraints: [],
    checks: [],
    second_opinion: false,
    tools: [],
    allow: [],
    chain: [],
    budget: BUDGET,
    limits: LIMITS,
    profile: "work",
    hosts: [],
    secrets: [],
    mode: "workspace",
  };
}
