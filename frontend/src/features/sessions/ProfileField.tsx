import { t } from "@/i18n/en/new-session";
import { RadioGroup } from "@/ui/RadioGroup";
import { type Draft, PROFILES } from "./draft";

interface ProfileFieldProps {
  draft: Pick<Draft, "profile">;
  change: (change: Pick<Draft, "profile">) => void;
}

/** How freely it works. */
export function ProfileField({ draft, change }: ProfileFieldProps) {
  return (
    <RadioGroup
      label={t("profile")}
      items={PROFILES.map((value) => ({ value, label: t(`profile_${value}`), hint: t(`profile_${value}Hint`) }))}
      value={draft.profile}
      onValueChange={(profile) => change({ profile })}
    />
  );
}
