/** Which models an objective uses: the home's own, or others in an order of its own. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { ModelFields } from "@/features/models/ModelFields";
import { t } from "@/i18n/en/new-session";
import { Button } from "@/ui/Button";
import { IconButton } from "@/ui/IconButton";
import { SafeText } from "@/ui/SafeText";

type Ref = Schema["ModelRef"];

export function Chain({ chain, onChange }: { chain: readonly Ref[]; onChange: (chain: Ref[]) => void }) {
  const usual = useQuery({ queryKey: ["chain"], queryFn: () => data(api.GET("/chain")) });
  const [own, setOwn] = useState(chain.length > 0);
  if (!own && chain.length === 0) {
    const models = usual.data?.chain ?? [];
    return (
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p className="min-w-0 text-base">
          {models.length > 0 || !usual.data ? (
            <SafeText>{t("modelsDefault", { models: models.map(nameOf).join(" → ") })}</SafeText>
          ) : (
            t("modelsNone")
          )}
        </p>
        <Button size="sm" onClick={() => setOwn(true)}>
          {t("modelsOwn")}
        </Button>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <p className="max-w-measure text-ink-2 text-sm">{t("modelsOrder")}</p>
      <ol className="flex flex-col">
        {chain.map((ref, place) => (
          <li
            key={nameOf(ref)}
            className="flex min-h-(--row-roomy) items-center gap-2 border-line border-b first:border-t"
          >
            <span className="tabular w-4 text-ink-3 text-sm">{place + 1}</span>
            <span className="min-w-0 flex-1 truncate font-mono text-sm">
              <SafeText>{nameOf(ref)}</SafeText>
            </span>
            {place > 0 && (
              <IconButton
                icon="chevron-up"
                label={t("moveUp", { name: nameOf(ref) })}
                onClick={() => onChange(raised(chain, place))}
              />
            )}
            <IconButton
              icon="cross"
              label={t("removeNamed", { name: nameOf(ref) })}
              onClick={() => onChange(chain.filter((_, other) => other !== place))}
            />
          </li>
        ))}
      </ol>
      <Another taken={chain} onAdd={(ref) => onChange([...chain, ref])} />
      <div>
        <Button
          kind="quiet"
          size="sm"
          onClick={() => {
            setOwn(false);
            onChange([]);
          }}
        >
          {t("useDefault")}
        </Button>
      </div>
    </div>
  );
}

const NONE: Ref = { provider: "", model: "" };

function Another({ taken, onAdd }: { taken: readonly Ref[]; onAdd: (ref: Ref) => void }) {
  const [typed, setTyped] = useState(NONE);
  const ref = { ...typed, model: typed.model.trim() };
  const there = taken.some((other) => nameOf(other) === nameOf(ref));
  return (
    <div className="grid items-end gap-3 md:grid-cols-[1fr_1.4fr_auto]">
      <ModelFields value={typed} onChange={setTyped} />
      <Button
        icon="plus"
        disabled={!ref.provider || !ref.model || there}
        onClick={() => {
          onAdd(ref);
          setTyped(NONE);
        }}
      >
        {t("add")}
      </Button>
    </div>
  );
}

function nameOf(ref: Ref): string {
  return `${ref.provider}/${ref.model}`;
}

function raised(chain: readonly Ref[], place: number): Ref[] {
  const next = [...chain];
  next.splice(place - 1, 0, ...next.splice(place, 1));
  return next;
}
