/** What is remembered: to be found, corrected, looked at from every side, and forgotten. The view stands in the address. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ComponentType, Suspense } from "react";
import { part } from "@/api/parts";
import { t } from "@/i18n/en/memories";
import { LinkTabs } from "@/ui/LinkTabs";
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
      <LinkTabs
        label={t("views")}
        className="mb-4 border-line border-b"
        tabs={VIEWS.map((one) => ({
          to: "/memories",
          search: one === "list" ? {} : { view: one },
          label: t(TITLES[one]),
          here: one === view,
        }))}
      />
      <Suspense fallback={<Loading lines={6} />}>
        <View />
      </Suspense>
      {id && <MemoryDrawer key={id} id={id} onClose={close} />}
    </div>
  );
}
