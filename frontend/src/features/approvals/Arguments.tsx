/** A call's arguments, each as it is: short ones in a line, others in boxes that scroll. */
import { useState } from "react";
import { t } from "@/i18n/en/approvals";
import { SafeText } from "@/ui/SafeText";
import { isInline } from "./preview";
import { LongText } from "./Whole";
import { ACTED_ON, type Argument } from "./words";

/** @param onSeen  the end of one was in view. */
export function Arguments({
  values,
  onSeen = () => undefined,
}: {
  values: readonly Argument[];
  onSeen?: (name: string) => void;
}) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  return (
    <>
      {values
        .filter((argument) => !isInline(argument))
        .map(({ name, value }) => (
          <section key={name} className="min-w-0">
            {name && !ACTED_ON.has(name) && (
              <p className="pb-0.5 text-ink-3 text-xs">
                <SafeText>{name}</SafeText>
              </p>
            )}
            <LongText
              label={name ? t("argument", { name }) : t("whatRuns")}
              text={value}
              opened={opened.has(name)}
              onOpen={() => setOpened(new Set(opened).add(name))}
              onSeen={() => onSeen(name)}
            />
          </section>
        ))}
      <Inline values={values.filter(isInline)} />
    </>
  );
}

/** A box for each of these would bury what is acted on. */
function Inline({ values }: { values: readonly Argument[] }) {
  if (values.length === 0) return null;
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
      {values.map(({ name, value }) => (
        <div key={name} className="flex min-w-0 gap-1.5">
          <dt className="text-ink-3">
            <SafeText>{name}</SafeText>
          </dt>
          <dd className="min-w-0 whitespace-pre-wrap font-mono">
            <SafeText>{value}</SafeText>
          </dd>
        </div>
      ))}
    </dl>
  );
}
