import { t } from "@/i18n/en/ui";
import { type Code, HELP } from "./errorHelp";
import { ButtonLink } from "./Link";

/** The place where faults of a kind are put right, if there is one. */
export function HelpLink({ code }: { code: Code }) {
  const { to, section, label } = HELP[code];
  if (!to || !label) return null;
  return (
    <ButtonLink size="sm" to={to} search={(section ? { section } : {}) as never}>
      {t(label)}
    </ButtonLink>
  );
}
