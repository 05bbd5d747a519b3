/** What a chat may do: its folder, how freely it works, with which models and money, and who else is heard. */
import { BudgetFields } from "@/features/sessions/BudgetFields";
import { Chain } from "@/features/sessions/Chain";
import { ProfileField } from "@/features/sessions/ProfileField";
import { t } from "@/i18n/en/channels";
import { Checkbox } from "@/ui/Checkbox";
import { Disclosure } from "@/ui/Disclosure";
import { Field } from "@/ui/Field";
import { FolderPicker } from "@/ui/FolderPicker";
import { Select } from "@/ui/Select";
import { OTHERS, type RightsDraft } from "./channel";

export interface RightsFieldsProps {
  draft: RightsDraft;
  change: (some: Partial<RightsDraft>) => void;
  /** Whether others can be in it; not known before it is paired. */
  group: boolean;
  tried: boolean;
}

export function RightsFields({ draft, change, group, tried }: RightsFieldsProps) {
  return (
    <>
      <FolderPicker
        value={draft.directory}
        onChange={(directory) => change({ directory })}
        error={tried && !draft.directory.trim() ? t("folderMissing") : undefined}
      />
      <ProfileField draft={draft} change={change} />
      {group && (
        <Field label={t("othersField")} hint={t("othersHint")}>
          <Select
            items={OTHERS.map((value) => ({ value, label: t(`others_${value}`) }))}
            value={draft.others || "none"}
            onValueChange={(others) => change({ others: others === "none" ? "" : others })}
          />
        </Field>
      )}
      <Disclosure summary={t("modelAndBudget")}>
        <div className="grid gap-4 pt-2">
          <Chain chain={draft.chain} onChange={(chain) => change({ chain })} />
          <Checkbox
            label={t("ownBudget")}
            hint={t("ownBudgetHint")}
            checked={draft.ownBudget}
            onCheckedChange={(ownBudget) => change({ ownBudget })}
          />
          {draft.ownBudget && <BudgetFields tokens={draft.tokens} usd={draft.usd} onChange={change} />}
        </div>
      </Disclosure>
    </>
  );
}
