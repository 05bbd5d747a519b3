import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { t } from "@/i18n/en/audit";
import { Button } from "@/ui/Button";
import { Combobox } from "@/ui/Combobox";
import { Input } from "@/ui/Input";
import { revealed } from "@/ui/reveal";
import { type Choice, Select } from "@/ui/Select";
import { addressOf, EVERYTHING, type Filter, isCall, type useTitles, type Verdict } from "./decisions";

const ANY = "any";

/** What narrows the log. It stands in the address, so that a view can be sent to somebody. */
export function Filters({ filter, titles }: { filter: Filter; titles: ReturnType<typeof useTitles> }) {
  const navigate = useNavigate();
  const narrow = (change: Partial<Filter>) =>
    void navigate({ to: "/audit", search: addressOf({ ...filter, ...change }), replace: true });
  const verdicts: readonly Choice<Verdict | typeof ANY>[] = [
    { value: ANY, label: t("any") },
    { value: "allow", label: t("onlyAllow") },
    { value: "ask", label: t("onlyAsk") },
    { value: "deny", label: t("onlyDeny") },
  ];
  const sessions = [...titles].map(([value, { title }]) => ({ value, label: revealed(title), hint: value }));
  if (filter.session && !titles.has(filter.session)) {
    sessions.unshift({ value: filter.session, label: filter.session, hint: "" });
  }
  const narrowed = Object.keys(addressOf(filter)).length > 0;
  return (
    <search className="contents">
      <Select
        aria-label={t("verdictFilter")}
        className="md:w-44"
        items={verdicts}
        value={filter.verdict || ANY}
        onValueChange={(verdict) => narrow({ verdict: verdict === ANY ? "" : verdict })}
      />
      <Combobox
        aria-label={t("sessionFilter")}
        className="w-full md:w-72"
        placeholder={t("anySession")}
        clearable
        items={sessions}
        value={filter.session || null}
        onValueChange={(session) => narrow({ session: session ?? "" })}
      />
      <CallKey call={filter.call} onChange={(call) => narrow({ call })} />
      {narrowed && (
        <Button kind="quiet" onClick={() => narrow(EVERYTHING)}>
          {t("clear")}
        </Button>
      )}
    </search>
  );
}

/** Applied on Enter, or on leaving: half a key finds nothing. */
function CallKey({ call, onChange }: { call: string; onChange: (call: string) => void }) {
  const [text, setText] = useState(call);
  useEffect(() => setText(call), [call]);
  const wanted = text.trim();
  const wrong = wanted !== "" && !isCall(wanted);
  const apply = () => {
    if (!wrong && wanted !== call) onChange(wanted);
  };
  return (
    <Input
      aria-label={t("callFilter")}
      aria-invalid={wrong || undefined}
      placeholder={t("callHint")}
      mono
      className="md:w-44"
      value={text}
      onValueChange={setText}
      onBlur={apply}
      onKeyDown={(event) => event.key === "Enter" && apply()}
    />
  );
}
