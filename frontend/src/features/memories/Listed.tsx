/** The list: found by meaning or by words, narrowed, chosen from. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { toggled } from "@/ui/ChosenBar";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import type { Older } from "@/ui/LongList";
import { SafeText } from "@/ui/SafeText";
import { AddButton } from "./AddDialog";
import { Chosen } from "./Chosen";
import { Filters } from "./Filters";
import { LegsNote } from "./Legs";
import { Loading } from "./Loading";
import { MemoryList, useOpen } from "./MemoryList";
import { addressOf, type Entry, EVERYTHING, isRanked, useFound, useListed, type Wanted, wantedOf } from "./wanted";
import { usePlaces } from "./words";

export function Listed() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const wanted = wantedOf(search);
  const navigate = useNavigate();
  const places = usePlaces();
  const known = places.data ?? [];
  const ranked = isRanked(wanted);
  const go = useCallback(
    (next: Wanted) => void navigate({ to: "/memories", search: addressOf(next) as never, replace: true }),
    [navigate],
  );
  return (
    <>
      <Filters wanted={wanted} places={known} onGo={go} />
      {ranked ? (
        places.isPending ? (
          <Loading lines={8} />
        ) : (
          <Ranked wanted={wanted} places={known} onGo={go} />
        )
      ) : (
        <Newest wanted={wanted} onGo={go} />
      )}
    </>
  );
}

type Narrowed = { wanted: Wanted; onGo: (wanted: Wanted) => void };

function Newest({ wanted, onGo }: Narrowed) {
  const list = useListed(wanted);
  const { entries, error } = list;
  if (!entries) {
    return error ? <ErrorNote title={t("listFailed")} kept={t("kept")} error={error} /> : <Loading lines={8} />;
  }
  if (entries.length === 0) {
    if (Object.keys(addressOf(wanted)).some((name) => name !== "by")) return <NoMatch wanted={wanted} onGo={onGo} />;
    return (
      <Empty title={t("noneTitle")} action={<AddButton />}>
        {t("noneWhy")}
      </Empty>
    );
  }
  return (
    <Rows
      entries={entries}
      wanted={wanted}
      said={t(list.hasNextPage ? "shownMore" : "shown", { count: entries.length })}
      more={list.hasNextPage}
      reading={list.isFetchingNextPage}
      problem={list.isFetchNextPageError ? error : null}
      onMore={() => void list.fetchNextPage()}
    />
  );
}

function Ranked({ wanted, places, onGo }: Narrowed & { places: Parameters<typeof useFound>[1] }) {
  const found = useFound(wanted, places, false);
  if (found.error) return <ErrorNote title={t("listFailed")} kept={t("kept")} error={found.error} />;
  if (found.pending) return <Loading lines={8} />;
  return (
    <>
      <LegsNote legs={found.legs} />
      {found.entries.length === 0 ? (
        <>
          <NoMatch wanted={wanted} onGo={onGo} />
          <Nearest wanted={wanted} places={places} />
        </>
      ) : (
        <Rows
          entries={found.entries}
          wanted={wanted}
          said={t("found", { count: found.entries.length })}
          more={false}
          reading={false}
          problem={null}
          onMore={found.retry}
        />
      )}
    </>
  );
}

/** What comes nearest in meaning where nothing matches: greyed, and said not to be a match. */
function Nearest({ wanted, places }: { wanted: Wanted; places: Parameters<typeof useFound>[1] }) {
  const { entries } = useFound(wanted, places, true);
  const open = useOpen();
  if (entries.length === 0) return null;
  return (
    <section aria-labelledby="nearest" className="text-ink-2">
      <h2 id="nearest" className="mb-1 font-medium">
        {t("nearest")}
      </h2>
      <ul className="divide-y divide-line border-line border-y">
        {entries.map(({ memory }) => (
          <li key={memory.id}>
            <button
              type="button"
              onClick={() => open(memory.id)}
              className="min-h-(--row-roomy) w-full py-1.5 text-start hover:bg-hover"
            >
              <SafeText>{memory.text}</SafeText>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Rows({
  entries,
  wanted,
  said,
  ...older
}: Older & { entries: readonly Entry[]; wanted: Wanted; said: string }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const among = entries.filter(({ memory }) => chosen.has(memory.id));
  return (
    <>
      <Chosen
        entries={entries}
        chosen={among}
        wanted={wanted}
        said={said}
        onAll={() => setChosen(new Set(entries.map(({ memory }) => memory.id)))}
        onClear={() => setChosen(new Set())}
      />
      <MemoryList
        entries={entries}
        chosen={chosen}
        onChoose={(id) => setChosen((before) => toggled(before, id))}
        {...older}
      />
      <p className="mt-3 text-ink-3 text-sm max-md:hidden">{t("keys")}</p>
    </>
  );
}

function NoMatch({ wanted, onGo }: Narrowed) {
  const byMeaning = isRanked(wanted);
  return (
    <Empty
      title={t("noMatchTitle")}
      action={
        byMeaning ? (
          <Button onClick={() => onGo({ ...wanted, by: "words" })}>{t("byWords")}</Button>
        ) : (
          <Button onClick={() => onGo({ ...EVERYTHING, by: wanted.by })}>{t("clear")}</Button>
        )
      }
    >
      {t(byMeaning ? "noMeaningWhy" : "noMatchWhy")}
    </Empty>
  );
}
