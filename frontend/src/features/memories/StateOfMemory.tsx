/** Whether memory works: its ways of finding, and how far its places are indexed. */
import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { t as words } from "@/i18n/en/memories";
import { t } from "@/i18n/en/memory-views";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatCount } from "@/ui/format";
import { Panel } from "@/ui/Panel";
import { Progress } from "@/ui/Progress";
import { SafeText } from "@/ui/SafeText";
import { Legs } from "./Legs";
import { Loading } from "./Loading";
import { type Place, placeWord } from "./words";

export function StateOfMemory() {
  const { data: state, error } = useQuery({
    queryKey: ["memories", "state"],
    queryFn: () => data(api.GET("/memories/state")),
  });
  return (
    <Panel title={words("legs")}>
      {error ? (
        <ErrorNote title={words("stateFailed")} error={error} />
      ) : !state ? (
        <Loading lines={4} />
      ) : (
        <div className="grid gap-5">
          <Legs legs={state.legs} />
          <ul className="grid gap-3 md:grid-cols-2 md:gap-x-8">
            {state.places.map((place) => (
              <li key={place.id} className="min-w-0">
                <Indexed place={place} places={state.places} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  );
}

function Indexed({ place, places }: { place: Place; places: readonly Place[] }) {
  const all = place.memories + place.episodes;
  // What is held no longer has a vector too, for questions about the past.
  const done = Math.min(place.embedded, all);
  return (
    <>
      <Progress
        label={<bdi title={place.directory || undefined}>{placeWord(place.id, places)}</bdi>}
        value={done}
        max={Math.max(1, all)}
        detail={words("embedded", { done, all })}
      />
      <p className="text-ink-2 text-sm">
        {t("held", { memories: formatCount(place.memories), turns: formatCount(place.episodes) })}
        {place.directory && (
          <>
            {" · "}
            <SafeText mono>{place.directory}</SafeText>
          </>
        )}
      </p>
    </>
  );
}
