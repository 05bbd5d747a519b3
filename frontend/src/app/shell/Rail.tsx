import { Link, useRouterState } from "@tanstack/react-router";
import { useComing } from "@/api/coming";
import { useWaiting } from "@/api/pending";
import { t } from "@/i18n/en/app";
import { PAGES, type PageName } from "../pages";
import { GROUPS, isAt } from "./places";

/** The pages in words, on the left. */
export function Rail() {
  return (
    <nav
      aria-label={t("main")}
      className="sticky top-0 row-span-2 hidden h-dvh flex-col overflow-y-auto border-r border-line bg-surface px-2 pb-4 md:flex"
    >
      <Link to="/" className="flex h-[var(--top)] shrink-0 items-center gap-2 rounded-md px-2 font-semibold text-lg">
        <img src="/icon.svg" alt="" className="size-5" />
        {t("name")}
      </Link>
      <Places />
    </nav>
  );
}

/** The list itself; the menu of a phone shows it too. */
export function Places({ onGo }: { onGo?: () => void }) {
  const coming = useComing();
  return (
    <>
      {GROUPS.map((group) => (
        <div key={group.name} className="mt-4 first-of-type:mt-2">
          <h2 className="px-2 pb-1 text-ink-3 text-xs">{group.name}</h2>
          <ul>
            {group.pages.map((name) => (
              <li key={name}>
                <Place name={name} {...(onGo && { onGo })} />
              </li>
            ))}
            {group.name === t("groupHome") &&
              coming.map((name) => (
                <li key={name}>
                  <Link to="/more/$name" params={{ name }} className={line(false)} {...(onGo && { onClick: onGo })}>
                    {t(name)}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </>
  );
}

function Place({ name, onGo }: { name: PageName; onGo?: () => void }) {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const waiting = useWaiting();
  const here = isAt(path, name);
  return (
    <Link
      to={PAGES[name].path}
      aria-current={here ? "page" : undefined}
      className={line(here)}
      {...(onGo && { onClick: onGo })}
    >
      <span className="truncate">{PAGES[name].title}</span>
      {name === "approvals" && waiting > 0 && (
        <span className="tabular ml-auto rounded-full bg-ask-fill px-2 text-ask text-xs">{waiting}</span>
      )}
    </Link>
  );
}

function line(here: boolean): string {
  const look = here ? "bg-hover font-medium text-ink" : "text-ink-2 hover:bg-hover hover:text-ink";
  return `flex min-h-[var(--row)] items-center gap-2 rounded-md px-2 ${look}`;
}
