import { t } from "@/i18n/en/dashboard";
import { ButtonLink, Link } from "@/ui/Link";

/** Home, before anything was done here. */
export function FirstVisit() {
  return (
    <section className="grid max-w-measure justify-items-start gap-5 px-4 py-[14dvh] md:px-6">
      <img src="/icon.svg" alt="" className="size-12" />
      <h1 className="font-semibold text-2xl">{t("firstTitle")}</h1>
      <p className="text-ink-2 text-lg">{t("firstWhy")}</p>
      <ButtonLink to="/setup" kind="primary">
        {t("setUpStead")}
      </ButtonLink>
      <Link to="/objectives/new">{t("firstSkip")}</Link>
    </section>
  );
}
