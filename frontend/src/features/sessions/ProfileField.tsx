import { t } from "@/i18n/en/new-session";
import { RadioGroup } from "@/ui/RadioGroup";
import { PROFILES } from "./draft";
import type { DraftProps } from "./MoreFields";

/** How freely it works. */
export function ProfileField({ draft, change }: DraftProps) {
  return (
    <RadioGroup
      label={t("profile")}
      items={PROFILES.map((value) => ({ value, label: t(`profile_${value}`), hint: t(`profile_${value}Hint`) }))}
      value={draft.profile}
      onValueChange={(profile) => change({ profile })}
    />
  );
}
