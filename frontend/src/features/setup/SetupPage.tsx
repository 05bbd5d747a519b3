/**
 * The first-run setup. Which step is open stands in the address, and how far it is is read off the daemon, so that it can be
 * left, reloaded and done again; a daemon that restarts meanwhile changes nothing.
 */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { t } from "@/i18n/en/setup";
import { ErrorNote } from "@/ui/ErrorNote";
import { PageHead } from "@/ui/PageHead";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { FirstRun } from "./FirstRun";
import { FirstStep } from "./FirstStep";
import { ModelStep } from "./ModelStep";
import { SandboxStep } from "./SandboxStep";
import { StepShell } from "./StepShell";
import { partOf, type SetupState, STEPS, type Step, useSetupState } from "./state";

export function SetupPage() {
  const setup = useSetupState();
  return (
    <div className="max-w-180 p-4 md:p-6">
      <PageHead title={t("setUpStead")} description={setup.done ? t("again") : t("about")} />
      {setup.known && setup.status ? (
        <Steps setup={setup} status={setup.status} />
      ) : setup.error ? (
        <ErrorNote error={setup.error} />
      ) : (
        <Skeleton lines={8} />
      )}
    </div>
  );
}

function Steps({ setup, status }: { setup: SetupState; status: NonNullable<SetupState["status"]> }) {
  const search: { step?: unknown; objective?: unknown } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [moved, setMoved] = useState(false);
  // What is next is settled when the page opens: a step does not close under the hands of who works in it.
  const [entered] = useState<Step>(setup.next);
  const open = STEPS.find((step) => step === search.step) ?? entered;
  const objective = typeof search.objective === "string" ? search.objective : "";

  function go(step: Step, objective = "") {
    setMoved(true);
    void navigate({ to: "/setup", search: { step, ...(objective && { objective }) } as never });
  }

  const work: Record<Step, ReactNode> = {
    model: (
      <ModelStep
        current={status.chosen ? (status.chain[0]?.provider ?? "") : ""}
        onDone={() => go("sandbox")}
        onSkip={() => go("sandbox")}
      />
    ),
    sandbox: <SandboxStep isolation={status.isolation} onDone={() => go("first")} />,
    first: objective ? (
      <FirstRun key={objective} id={objective} onAnew={() => go("first")} />
    ) : (
      <FirstStep
        key={status.rehearsal ? "rehearsal" : "model"}
        rehearsal={status.rehearsal}
        onStarted={(id) => go("first", id)}
      />
    ),
  };
  return (
    <ol aria-label={t("steps")}>
      {STEPS.map((step, index) => (
        <StepShell
          key={step}
          number={index + 1}
          step={step}
          done={setup.steps[step]}
          open={open === step}
          focus={moved}
          summary={<Summary step={step} setup={setup} />}
          onOpen={() => go(step)}
        >
          {work[step]}
        </StepShell>
      ))}
    </ol>
  );
}

function Summary({ step, setup }: { step: Step; setup: SetupState }) {
  const { status } = setup;
  if (!status || step === "first") return setup.steps.first ? t("over") : t("firstAbout");
  if (step === "sandbox") return t(setup.steps.sandbox ? "sandboxOk" : "sandboxOff");
  if (status.rehearsal) return t(status.chosen ? "modelRehearsal" : "modelWaiting");
  const part = partOf(status, "model");
  const named = status.chain[0];
  return (
    <SafeText>
      {part?.verdict === "fail" ? part.text : t("modelSet", { name: `${named?.provider}/${named?.model}` })}
    </SafeText>
  );
}
