/** Exactly what would run, argument by argument. */
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { formatBytes } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";
import { ACTED_ON, type Argument, beginning } from "./words";

/**
 * @param values  the call's arguments.
 * @param opened  the names of long ones that the person has opened.
 * @param onOpen  they open one.
 */
export function Exact({
  tool,
  values,
  opened,
  onOpen,
}: {
  tool: string;
  values: readonly Argument[];
  opened: ReadonlySet<string>;
  onOpen: (name: string) => void;
}) {
  const short = values.filter(isShort);
  return (
    <div className="grid gap-2">
      <dl className="grid gap-2 empty:hidden">
        {values
          .filter((argument) => !isShort(argument))
          .map((argument) => (
            <div key={argument.name} className="min-w-0">
              <dt className="pb-0.5 text-ink-3 text-xs">
                {argument.name ? <SafeText>{heading(tool, argument.name)}</SafeText> : t("whatRuns")}
              </dt>
              <dd>
                <Value
                  tool={tool}
                  argument={argument}
                  open={opened.has(argument.name)}
                  onOpen={() => onOpen(argument.name)}
                />
              </dd>
            </div>
          ))}
      </dl>
      {short.length > 0 && (
        <dl className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
          {short.map(({ name, value }) => (
            <div key={name} className="flex min-w-0 gap-1.5">
              <dt className="text-ink-3">
                <SafeText>{name}</SafeText>
              </dt>
              <dd className="min-w-0 font-mono">
                <SafeText>{value}</SafeText>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** Numbers, switches and what is empty stand in one line: a box for each would bury what is acted on. */
function isShort({ name, value }: Argument): boolean {
  return name !== "" && /^(-?\d[\d.]{0,15}|true|false|null|\[\]|\{\}|)$/.test(value);
}

function Value({
  tool,
  argument,
  open,
  onOpen,
}: {
  tool: string;
  argument: Argument;
  open: boolean;
  onOpen: () => void;
}) {
  const begin = beginning(argument);
  const text = open ? argument.value : begin.text;
  const size = formatBytes(new TextEncoder().encode(argument.value).length);
  return (
    <>
      <ScrollBox
        role="group"
        aria-label={argument.name ? t("argument", { name: heading(tool, argument.name) }) : t("whatRuns")}
        className={cx(
          "overflow-auto rounded-md border border-line px-3 py-2 font-mono text-sm",
          !ACTED_ON.has(argument.name) && "max-h-80",
          tone(tool, argument.name),
        )}
      >
        <pre className="whitespace-pre-wrap break-words">
          <SafeText lines>{text}</SafeText>
        </pre>
      </ScrollBox>
      {begin.cut && !open && (
        <p className="flex flex-wrap items-center gap-2 pt-1 text-ink-2 text-sm">
          {t("cut", { shown: begin.shown, lines: begin.lines, size })}
          <Button size="sm" onClick={onOpen}>
            {t("openAll")}
          </Button>
        </p>
      )}
    </>
  );
}

/** An edit's two texts are named by what becomes of them: a sign would be lost on whoever does not see colours. */
function heading(tool: string, name: string): string {
  if (tool !== "edit") return name;
  if (name === "old") return `${name} — ${t("takesOut")}`;
  if (name === "new") return `${name} — ${t("putsIn")}`;
  return name;
}

function tone(tool: string, name: string): string {
  if (tool !== "edit") return "bg-surface";
  if (name === "old") return "bg-danger-fill";
  return name === "new" ? "bg-good-fill" : "bg-surface";
}
