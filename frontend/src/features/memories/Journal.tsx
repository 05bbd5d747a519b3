/** The journal of a folder, a day at a time. Place and day are in the address; the arrow keys turn the page. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, data, type Schema } from "@/api/client";
import { useStreams } from "@/api/streams";
import { BACK, FORWARD } from "@/i18n";
import { t as words } from "@/i18n/en/memories";
import { t } from "@/i18n/en/memory-views";
import { plainLine } from "@/markdown/plain";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { IconButton } from "@/ui/IconButton";
import { Input } from "@/ui/Input";
import { Link } from "@/ui/Link";
import { SafeText } from "@/ui/SafeText";
import { Select } from "@/ui/Select";
import { Badge } from "@/ui/State";
import { Tainted } from "@/ui/Tainted";
import { Time } from "@/ui/Time";
import { localDay, shifted, spanOf, weekday } from "./days";
import { Loading } from "./Loading";
import { GLOBAL, placeWord, usePlaces } from "./words";

type Line = Schema["JournalLine"];

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function Journal() {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const places = usePlaces();
  const written = (places.data ?? []).filter(({ id }) => id !== GLOBAL);
  if (places.error) return <ErrorNote title={t("journalFailed")} error={places.error} kept={words("kept")} />;
  if (!places.data) return <Loading lines={6} />;
  const place = written.find(({ id }) => id === search.place) ?? written[0];
  if (!place) return <Empty title={t("journalNowhere")}>{t("journalNowhereWhy")}</Empty>;
  const today = localDay(new Date());
  const day = typeof search.day === "string" && DAY.test(search.day) && search.day <= today ? search.day : today;
  return <Pages places={written} place={place.id} day={day} today={today} />;
}

interface PagesProps {
  places: readonly Schema["Place"][];
  place: string;
  day: string;
  today: string;
}

function Pages({ places, place, day, today }: PagesProps) {
  const navigate = useNavigate();
  const go = (search: { place: string; day: string }) =>
    void navigate({ to: "/memories", search: { view: "journal", ...search } as never, replace: true });
  const turn = (by: number) => {
    const next = shifted(day, by);
    if (next <= today) go({ place, day: next });
  };
  useArrows(turn);
  return (
    <>
      <p className="mb-3 max-w-measure text-ink-2">{t("journalAbout")}</p>
      <search className="mb-4 flex flex-wrap items-center gap-2">
        <Select
          aria-label={t("folder")}
          className="w-auto! max-w-64"
          items={places.map(({ id, directory }) => ({
            value: id as string,
            label: t("journalOf", { place: placeWord(id, places) }),
            hint: directory && <SafeText mono>{directory}</SafeText>,
          }))}
          value={place}
          onValueChange={(next) => go({ place: next, day })}
        />
        <div className="flex items-center gap-2">
          <IconButton icon="chevron-left" label={t("journalPrevious")} onClick={() => turn(-1)} />
          <Input
            type="date"
            aria-label={t("journalDay")}
            className="w-40!"
            max={today}
            value={day}
            onValueChange={(next) => DAY.test(next) && go({ place, day: next })}
          />
          <IconButton icon="chevron-right" label={t("journalNext")} disabled={day >= today} onClick={() => turn(1)} />
        </div>
        {day !== today && (
          <Button kind="quiet" onClick={() => go({ place, day: today })}>
            {t("today")}
          </Button>
        )}
        <span className="text-ink-3 text-sm max-md:hidden">{t("journalKeys")}</span>
      </search>
      <Day place={place} day={day} />
    </>
  );
}

function Day({ place, day }: { place: string; day: string }) {
  const {
    data: lines,
    error,
    isPlaceholderData,
  } = useQuery({
    queryKey: ["memories", "journal", place, day],
    queryFn: async () => {
      const { since, until } = spanOf(day);
      const query = { place, since_ms: since, until_ms: until };
      return (await data(api.GET("/memories/journal", { params: { query } }))).items;
    },
    placeholderData: keepPreviousData,
  });
  const rows = useStreams(lines?.map(({ session }) => session) ?? []);
  return (
    <section aria-labelledby="journal-day" aria-busy={isPlaceholderData}>
      <h2 id="journal-day" className="flex flex-wrap items-baseline gap-x-3 font-semibold text-lg">
        <time dateTime={day}>{weekday(day)}</time>
        {lines && lines.length > 0 && (
          <span role="status" className="font-normal text-ink-2 text-sm">
            {t("journalLines", { count: lines.length })}
          </span>
        )}
      </h2>
      {error ? (
        <ErrorNote title={t("journalFailed")} error={error} kept={words("kept")} />
      ) : !lines ? (
        <Loading lines={4} />
      ) : lines.length === 0 ? (
        <Empty title={t("journalNone")}>{t("journalNoneWhy")}</Empty>
      ) : (
        <ol className={cx("mt-2 border-line border-t", isPlaceholderData && "opacity-60")}>
          {lines.map((line) => (
            <Entry key={`${line.session}.${line.ts_ms}.${line.text}`} line={line} kind={rows.get(line.session)?.kind} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Entry({ line, kind }: { line: Line; kind: "objective" | "session" | undefined }) {
  return (
    <li className="grid gap-x-4 gap-y-0.5 border-line border-b py-2.5 md:grid-cols-[5rem_minmax(0,1fr)]">
      <Time at={line.ts_ms} exact className="tabular text-ink-2 text-sm leading-5" />
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
          {kind ? (
            <Link
              to={kind === "session" ? "/sessions/$id" : "/objectives/$id"}
              params={{ id: line.session }}
              className="inline-flex min-h-6 items-center"
            >
              <SafeText>{line.title || line.session}</SafeText>
            </Link>
          ) : (
            <SafeText>{line.title || line.session}</SafeText>
          )}
          {line.private && <Badge>{words("privately")}</Badge>}
          {line.tainted && <Tainted origins={[t("journalRead")]} />}
        </p>
        <p className="max-w-measure text-ink-2">
          <SafeText>{plainLine(line.text)}</SafeText>
        </p>
      </div>
    </li>
  );
}

const OTHERS = "input, textarea, select, [role=combobox], [role=listbox], [role=menu], [role=dialog], [role=tab]";

/** Left and right turn the page, unless they belong to what has the focus. */
function useArrows(turn: (by: number) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const by = { [BACK]: -1, [FORWARD]: 1 }[event.key];
      if (!by || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.target instanceof HTMLElement && event.target.closest(OTHERS)) return;
      event.preventDefault();
      turn(by);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [turn]);
}
