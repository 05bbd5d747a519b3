import { t } from "@/i18n/en/setup";
import { SafeText } from "@/ui/SafeText";
import type { Choice } from "./choices";

const GROUPS = ["here", "connect", "none"] as const;

/** Cards to choose one of. They are radio buttons: arrow keys move among them. */
export function ProviderChoices({
  choices,
  value,
  onChange,
}: {
  choices: readonly Choice[];
  value: string;
  onChange: (choice: Choice) => void;
}) {
  return (
    <div className="grid gap-4">
      {GROUPS.map((group) => {
        const inside = choices.filter((choice) => choice.group === group);
        if (inside.length === 0) return null;
        return (
          <fieldset key={group} className="min-w-0">
            <legend className="mb-1.5 text-ink-2 text-sm">{t(group)}</legend>
            <div className="grid gap-2 grid-cols-[repeat(auto-fill,minmax(min(100%,9rem),1fr))]">
              {inside.map((choice) => (
                <Card key={choice.id} choice={choice} chosen={choice.id === value} onChoose={() => onChange(choice)} />
              ))}
            </div>
          </fieldset>
        );
      })}
    </div>
  );
}

function Card({ choice, chosen, onChoose }: { choice: Choice; chosen: boolean; onChoose: () => void }) {
  return (
    <label className="relative flex min-h-14 cursor-pointer flex-col justify-center rounded-lg border border-line bg-raised px-3 py-2 hover:border-line-strong transition-colors hover:bg-hover has-checked:border-accent has-checked:bg-accent-fill has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2">
      <input
        type="radio"
        name="provider"
        value={choice.id}
        checked={chosen}
        onChange={onChoose}
        className="absolute inset-0 size-full cursor-pointer appearance-none rounded-lg opacity-0"
      />
      <span className="font-medium">
        <SafeText>{choice.title}</SafeText>
      </span>
      <span className="text-ink-2 text-sm">
        <SafeText>{choice.hint}</SafeText>
      </span>
    </label>
  );
}
