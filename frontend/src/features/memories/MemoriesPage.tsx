/** What is remembered: to be found, corrected, looked at from every side, and forgotten. The view stands in the address. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ComponentType, Suspense } from "react";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/memories";
import { cx } from "@/ui/classes";
import { Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { AddButton } from "./AddDialog";
import { ImportButton } from "./ImportDialog";
import { Listed } from "./Listed";
import { Loading } from "./Loading";
import { MemoryDrawer } from "./MemoryDrawer";
import { Proposals } from "./Proposals";
import { VIEWS, type View } from "./wanted";

const SHOWN: Readonly<Record<View, ComponentType>> = {
  list: Listed,
  told: part(async () => (await import("./Told")).Told),
  figures: part(async () => (await import("./Figures")).Figures),
  journal: part(async () => (await import("./Journal")).Journal),
  forgotten: part(async () => (await import("./Forgotten")).Forgotten),
  runs: part(async () => (await import("./Runs")).Runs),
};
const TITLES = {
  list: "list",
  told: "told",
  figures: "figures",
  journal: "journal",
  runs: "runs",
  forgotten: "forgetting",
} as const;
const ID = /^m_[0-9a-f]{16}$/;

export function MemoriesPage() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const view = VIEWS.find((one) => one === search.view) ?? "list";
  const id = typeof search.id === "string" && ID.test(search.id) ? search.id : "";
  const close = () => {
    const { id: _, ...rest } = search;
    void navigate({ to: "/memories", search: rest as never, replace: true });
  };
  const View = SHOWN[view];
  return (
    <div className="max-w-300 p-4 md:p-6">
      <PageHead
        title={t("title")}
        description={t("about")}
        actions={
          <>
            <ImportButton />
            <AddButton />
          </>
        }
      />
      <Proposals />
      <Views view={view} />
      <Suspense fallback={<Loading lines={6} />}>
        <View />
      </Suspense>
      {id && <MemoryDrawer key={id} id={id} onClose={close} />}
    </div>
  );
}

function Views({ view }: { view: View }) {
  return (
    <nav aria-label={t("views")} className="relative mb-4 overflow-x-auto overflow-y-hidden border-line border-b">
      <ul className="flex gap-1">
        {VIEWS.map((one) => (
          <li key={one} ref={one === view ? showBeside : null}>
            <Link
              to="/memories"
              search={(one === "list" ? {} : { view: one }) as never}
              kind="plain"
              aria-current={one === view ? "page" : undefined}
              className={cx(
                "flex h-(--row-roomy) items-center border-b-2 px-2.5 font-medium whitespace-nowrap -outline-offset-2",
                one === view ? "border-accent text-ink" : "border-transparent text-ink-2",
              )}
            >
              {t(TITLES[one])}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function middle(element: HTMLElement): number {
  const { left, right } = element.getBoundingClientRect();
  return (left + right) / 2;
}

/** On a phone the views are wider than the window. */
function showBeside(item: HTMLElement | null): void {
  const box = item?.closest("nav");
  if (item && box) box.scrollLeft += middle(item) - middle(box);
}
