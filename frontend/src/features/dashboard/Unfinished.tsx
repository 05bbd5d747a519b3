import type { Step } from "@/features/setup/state";
import { t } from "@/i18n/en/dashboard";
import { Link } from "@/ui/Link";

const WORDS = { model: "unfinishedModel", sandbox: "unfinishedSandbox", first: "unfinishedFirst" } as const;

/** What the setup still lacks, said quietly: work exists, so the person may well know. */
export function Unfinished({ step }: { step: Step }) {
  return (
    <p className="text-ink-2 text-sm">
      {t("unfinished", { step: t(WORDS[step]) })}{" "}
      <Link to="/setup" search={{ step } as never}>
        {t("unfinishedGo")}
      </Link>
    </p>
  );
}
