import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { Checkbox } from "@/ui/Checkbox";
import { Input } from "@/ui/Input";
import { SafeText } from "@/ui/SafeText";
import { Select } from "@/ui/Select";
import { useTyped } from "@/ui/useTyped";
import { addressOf, EVERYTHING, type Wanted } from "./wanted";
import { KINDS, ORIGINS, type Place, placeWord, STATUSES } from "./words";

const ANY = "any";
const ONLY = {
  live: "onlyLive",
  superseded: "onlySuperseded",
  expired: "onlyExpired",
  retired: "onlyRetired",
} as const;

/** What narrows the list. It stands in the address, so that a view can be linked. */
export function Filters({
  wanted,
  places,
  onGo,
}: {
  wanted: Wanted;
  places: readonly Place[];
  onGo: (wanted: Wanted) => void;
}) {
  const go = (change: Partial<Wanted>) => onGo({ ...wanted, ...change });
  const narrowed = Object.keys(addressOf(wanted)).some((name) => name !== "by");
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <Words query={wanted.q} onQuery={(q) => go({ q })} />
      <Select
        aria-label={t("how")}
        className="w-auto!"
        items={[
          { value: "meaning", label: t("byMeaning") },
          { value: "words", label: t("byWords") },
        ]}
        value={wanted.by}
        onValueChange={(by) => go({ by })}
      />
      <Select
        aria-label={t("kind")}
        className="w-auto!"
        items={[{ value: ANY, label: t("anyKind") }, ...KINDS.map((value) => ({ value, label: t(value) }))]}
        value={wanted.kind || ANY}
        onValueChange={(kind) => go({ kind: kind === ANY ? "" : kind })}
      />
      <Select
        aria-label={t("place")}
        className="w-auto! max-w-56"
        items={[
          { value: ANY, label: t("anyPlace") },
          ...places.map(({ id, directory }) => ({
            value: id as string,
            label: placeWord(id, places),
            hint: directory && <SafeText mono>{directory}</SafeText>,
          })),
        ]}
        value={wanted.place || ANY}
        onValueChange={(place) => go({ place: place === ANY ? "" : place })}
      />
      <Select
        aria-label={t("origin")}
        className="w-auto!"
        items={[{ value: ANY, label: t("anyOrigin") }, ...ORIGINS.map((value) => ({ value, label: t(value) }))]}
        value={wanted.origin || ANY}
        onValueChange={(origin) => go({ origin: origin === ANY ? "" : origin })}
      />
      <Select
        aria-label={t("status")}
        className="w-auto!"
        items={[...STATUSES.map((value) => ({ value, label: t(ONLY[value]) })), { value: ANY, label: t("anyStatus") }]}
        value={wanted.status}
        onValueChange={(status) => go({ status })}
      />
      <div className="self-center">
        <Checkbox label={t("onlyPinned")} checked={wanted.pinned} onCheckedChange={(pinned) => go({ pinned })} />
      </div>
      {narrowed && (
        <Button kind="quiet" onClick={() => onGo({ ...EVERYTHING, by: wanted.by })}>
          {t("clear")}
        </Button>
      )}
    </search>
  );
}

/** What is typed is asked for when the typing rests. */
function Words({ query, onQuery }: { query: string; onQuery: (query: string) => void }) {
  const [typed, setTyped] = useTyped(query, onQuery);
  return (
    <Input
      type="search"
      aria-label={t("search")}
      placeholder={t("searchHint")}
      value={typed}
      onValueChange={setTyped}
      maxLength={500}
      className="w-full! md:w-72!"
    />
  );
}
