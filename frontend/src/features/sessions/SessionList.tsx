/** Rows of sessions: how each stands, what it is doing, what it cost. */
import { useState } from "react";
import { t } from "@/i18n/en/sessions";
import { Checkbox } from "@/ui/Checkbox";
import { toggled } from "@/ui/ChosenBar";
import { cx } from "@/ui/classes";
import { formatUsd } from "@/ui/format";
import { Link } from "@/ui/Link";
import { LongList, type Older } from "@/ui/LongList";
import { nameOf } from "@/ui/paths";
import { revealed } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { Chosen } from "./Chosen";
import { PLACES, type Row, standing, stateOf, statusWord, whatAt } from "./words";

const DESK_PX = 58;
const PHONE_PX = 84;

export function SessionList({ rows, ...older }: { rows: readonly Row[] } & Older) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (row: Row) => setChosen((before) => toggled(before, row.id));
  const among = rows.filter(({ id }) => chosen.has(id));
  return (
    <>
      {among.length > 0 && <Chosen rows={among} onClear={() => setChosen(new Set())} />}
      <LongList
        {...older}
        name={t("list")}
        rows={rows}
        idOf={(row) => row.id}
        deskPx={DESK_PX}
        phonePx={PHONE_PX}
        onKey={(key, row) => {
          if (key === "x") choose(row);
          return key === "x";
        }}
      >
        {(row) => <Line row={row} chosen={chosen.has(row.id)} onChoose={() => choose(row)} />}
      </LongList>
    </>
  );
}

function Line({ row, chosen, onChoose }: { row: Row; chosen: boolean; onChoose: () => void }) {
  const about = row.status === "waiting" ? "" : whatAt(row);
  const title = row.title || nameOf(row.directory);
  return (
    <div className={cx("flex items-center gap-2 md:-mx-2 md:px-2", chosen ? "bg-accent-fill" : "hover:bg-hover")}>
      <Checkbox
        label={t("choose", { title: revealed(title) })}
        labelHidden
        checked={chosen}
        onCheckedChange={onChoose}
      />
      <Link
        data-main
        to={PLACES[row.kind].one}
        params={{ id: row.id }}
        kind="plain"
        className="-outline-offset-2 grid min-h-21 min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto] content-center gap-x-4 gap-y-0.5 md:min-h-14.25 md:grid-cols-[8.5rem_minmax(0,1fr)_6rem_8rem] md:items-center"
      >
        <span className="text-sm max-md:order-3 md:row-span-2">
          <State kind={stateOf(standing(row))}>{statusWord(standing(row))}</State>
        </span>
        <span className="truncate font-medium max-md:order-1">
          <SafeText>{title}</SafeText>
        </span>
        <span className="tabular text-end text-ink-2 text-sm max-md:order-4 md:row-span-2">
          <span className="sr-only">{t("spent")} </span>
          {formatUsd(row.usd_micros_used, row.price_known)}
        </span>
        <span className="tabular text-end text-ink-2 text-sm max-md:order-2 md:row-span-2">
          <Time at={new Date(row.kind === "session" ? row.updated_ms : row.created_ms)} />
        </span>
        <span className="flex min-w-0 gap-3 text-ink-2 text-sm max-md:order-5 max-md:col-span-2 md:col-start-2">
          <span className="min-w-0 truncate">
            {row.kind === "session" && t("turns", { count: row.turns })}
            {row.kind === "session" && about && " · "}
            <SafeText>{about}</SafeText>
          </span>
          <span className="ms-auto max-w-40 shrink-0 truncate font-mono text-ink-3 text-xs leading-5 max-lg:hidden">
            <SafeText>{nameOf(row.directory)}</SafeText>
          </span>
        </span>
      </Link>
    </div>
  );
}
