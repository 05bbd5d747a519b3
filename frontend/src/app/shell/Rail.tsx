import { Link, useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useComing } from "@/api/coming";
import { useWaiting } from "@/api/pending";
import { useRecent, type Work } from "@/api/recent";
import { keysOf } from "@/features/keys/shortcuts";
import { isRunning, PLACES, stateOf, statusWord } from "@/features/sessions/status";
import { t } from "@/i18n/en/app";
import { cx } from "@/ui/classes";
import { Icon } from "@/ui/Icon";
import { KeyHint } from "@/ui/KeyHint";
import { nameOf } from "@/ui/paths";
import { SafeText } from "@/ui/SafeText";
import { INK, Shape } from "@/ui/State";
import { Time } from "@/ui/Time";
import { PAGES } from "../pages";
import { FOOT, INBOX, isWithin, type Place } from "./places";

const SHOWN = 20;

interface Going {
  /** Called when a link is followed. */
  onGo?: (() => void) | undefined;
}

/** On the left: something new, what waits, the work by folder, and everything else at the foot. */
export function Rail() {
  return (
    <nav
      aria-label={t("main")}
      className="sticky top-0 row-span-2 hidden h-dvh flex-col border-line border-e bg-surface px-2 pb-3 md:flex"
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
export function Places({ onGo }: Going) {
  const coming = useComing();
  return (
    <>
      <Line to="/" exact onGo={onGo}>
        <Icon name="plus" />
        <span className="flex-1">{t("new")}</span>
        <span className="text-ink-2 max-md:hidden">
          <KeyHint keys={keysOf("new")} />
        </span>
      </Line>
      <PlaceLine place={INBOX} onGo={onGo} />
      <div className="-mx-2 my-2 min-h-24 flex-1 overflow-y-auto border-line border-y px-2 py-1">
        <Works onGo={onGo} />
      </div>
      {FOOT.map((place) => (
        <PlaceLine key={place.label} place={place} onGo={onGo} />
      ))}
      {coming.map((name) => (
        <Line key={name} to={`/more/${name}`} onGo={onGo}>
          <Icon name="window" />
          {t(name)}
        </Line>
      ))}
    </>
  );
}

function PlaceLine({ place, onGo }: Going & { place: Place }) {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const waiting = useWaiting();
  return (
    <Line to={PAGES[place.pages[0]].path} here={isWithin(path, place)} onGo={onGo}>
      <Icon name={place.icon} />
      <span className="truncate">{t(place.label)}</span>
      {place === INBOX && waiting > 0 && (
        <span className="tabular ms-auto rounded-full bg-ask-fill px-2 text-ask text-xs">{waiting}</span>
      )}
    </Line>
  );
}

/** The newest sessions and objectives by their folders; the folder that something happened in last is first. */
function Works({ onGo }: Going) {
  const recent = useRecent();
  const works = recent.data?.slice(0, SHOWN) ?? [];
  const folders = [...new Set(works.map((work) => work.directory))];
  // What stands below them would jump.
  if (recent.isPending) return null;
  return (
    <>
      {folders.map((folder) => (
        <section key={folder} aria-label={nameOf(folder)} className="mb-2">
          <h2 title={folder} className="truncate px-2 pt-1.5 pb-0.5 text-ink-3 text-xs">
            <SafeText>{nameOf(folder)}</SafeText>
          </h2>
          <ul>
            {works
              .filter((work) => work.directory === folder)
              .map((work) => (
                <li key={work.id}>
                  <WorkLine work={work} onGo={onGo} />
                </li>
              ))}
          </ul>
        </section>
      ))}
      <Line to="/sessions" exact quiet onGo={onGo}>
        {t("allSessions")}
      </Line>
      <Line to="/objectives" exact quiet onGo={onGo}>
        {t("allObjectives")}
      </Line>
    </>
  );
}

function WorkLine({ work, onGo }: Going & { work: Work }) {
  const state = work.status !== "waiting" && isRunning(work.status) ? "work" : stateOf(work.status);
  return (
    <Line to={PLACES[work.kind].one.replace("$id", work.id)} onGo={onGo}>
      <span className={cx("grid w-4 place-items-center", INK[state])}>
        <Shape kind={state} />
      </span>
      <span className="sr-only">{statusWord(work.status)}: </span>
      <span className="min-w-0 flex-1 truncate">
        <SafeText>{work.title}</SafeText>
      </span>
      <Time at={work.updated_ms} short className="tabular text-ink-3 text-xs" />
    </Line>
  );
}

interface LineProps extends Going {
  to: string;
  /** Whether one is there; without it, by the address alone. */
  here?: boolean | undefined;
  /** Only at this very address. */
  exact?: boolean | undefined;
  quiet?: boolean | undefined;
  children: ReactNode;
}

function Line({ to, here, exact = false, quiet = false, onGo, children }: LineProps) {
  const path = useRouterState({ select: (router) => router.location.pathname });
  const at = here ?? (path === to || (!exact && path.startsWith(`${to}/`)));
  return (
    <Link
      to={to}
      aria-current={at ? "page" : undefined}
      className={cx(
        "flex min-h-[var(--row)] shrink-0 items-center gap-2 rounded-md px-2 text-base",
        at ? "bg-hover font-medium text-ink" : "text-ink-2 hover:bg-hover hover:text-ink",
        quiet && "text-sm",
      )}
      onClick={onGo}
    >
      {children}
    </Link>
  );
}
