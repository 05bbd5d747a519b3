import { useNavigate, useSearch } from "@tanstack/react-router";
import { t } from "@/i18n/en/settings";
import { cx } from "@/ui/classes";
import { Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { Select } from "@/ui/Select";
import { SECTIONS } from "./sections";

export function SettingsPage() {
  const search: { section?: unknown } = useSearch({ strict: false });
  const navigate = useNavigate();
  const here = SECTIONS.find((section) => section.name === search.section) ?? SECTIONS[0];
  const { Content } = here;
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead title={t("title")} />
      <div className="grid gap-6 md:grid-cols-[10rem_minmax(0,1fr)] md:gap-10">
        <nav aria-label={t("sections")} className="max-md:hidden">
          <ul className="sticky top-[calc(var(--top)+1.5rem)] grid gap-0.5">
            {SECTIONS.map((section) => (
              <li key={section.name}>
                <Link
                  to="/settings"
                  search={{ section: section.name } as never}
                  kind="plain"
                  aria-current={section === here ? "page" : undefined}
                  className={cx(
                    "flex min-h-(--row) items-center rounded-md px-2.5",
                    section === here ? "bg-hover font-medium" : "text-ink-2 hover:bg-hover",
                  )}
                >
                  {section.title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="md:hidden">
          <Select
            aria-label={t("sections")}
            items={SECTIONS.map((section) => ({ value: section.name, label: section.title }))}
            value={here.name}
            onValueChange={(section) => void navigate({ to: "/settings", search: { section } as never })}
          />
        </div>
        <div className="grid min-w-0 max-w-180 content-start gap-10">
          <Content key={here.name} />
        </div>
      </div>
    </div>
  );
}
