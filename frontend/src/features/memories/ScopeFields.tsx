import { t } from "@/i18n/en/memories";
import { FolderPicker } from "@/ui/FolderPicker";
import { RadioGroup } from "@/ui/RadioGroup";

/** The levels that a person can choose; what a channel remembers is said there. */
export const LEVELS = ["global", "workspace", "private"] as const;
export type Level = (typeof LEVELS)[number];

export interface ScopeDraft {
  level: Level;
  directory: string;
}

export const EVERYWHERE: ScopeDraft = { level: "global", directory: "" };

/** Why it cannot be sent; "" when it can. */
export function scopeFlaw({ level, directory }: ScopeDraft): string {
  return level !== "global" && !directory.trim() ? t("folderMissing") : "";
}

/** As the daemon takes it: what holds everywhere names no folder. */
export function scopeSent({ level, directory }: ScopeDraft): ScopeDraft {
  return { level, directory: level === "global" ? "" : directory.trim() };
}

export function ScopeFields({
  scope,
  onChange,
  tried,
}: {
  scope: ScopeDraft;
  onChange: (scope: ScopeDraft) => void;
  tried: boolean;
}) {
  return (
    <div className="grid gap-3">
      <RadioGroup
        label={t("scope")}
        items={LEVELS.map((value) => ({ value, label: t(`level_${value}`), hint: t(`level_${value}Hint`) }))}
        value={scope.level}
        onValueChange={(level) => onChange({ ...scope, level })}
      />
      {scope.level !== "global" && (
        <FolderPicker
          value={scope.directory}
          onChange={(directory) => onChange({ ...scope, directory })}
          hint={t("folderHint")}
          error={(tried && scopeFlaw(scope)) || undefined}
        />
      )}
    </div>
  );
}
