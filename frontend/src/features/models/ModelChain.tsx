/** Models in the order in which they are tried: moved, taken out, and further ones. */
import { useState } from "react";
import type { Schema } from "@/api/client";
import { t } from "@/i18n/en/models";
import { Button } from "@/ui/Button";
import { IconButton } from "@/ui/IconButton";
import { SafeText } from "@/ui/SafeText";
import { ModelFields } from "./ModelFields";

type Ref = Schema["ModelRef"];

const NONE: Ref = { provider: "", model: "" };

export function nameOf(ref: Ref): string {
  return `${ref.provider}/${ref.model}`;
}

export function ModelChain({ chain, onChange }: { chain: readonly Ref[]; onChange: (chain: Ref[]) => void }) {
  const move = (from: number, to: number) => {
    const next = [...chain];
    next.splice(to, 0, ...next.splice(from, 1));
    onChange(next);
  };
  return (
    <>
      {chain.length > 0 && (
        <ol className="divide-y divide-line border-line border-y">
          {chain.map((ref, place) => {
            const name = nameOf(ref);
            return (
              <li key={name} className="flex min-h-(--row-roomy) flex-wrap items-center gap-x-3 py-1">
                <span className="tabular w-5 text-end text-ink-3">{place + 1}</span>
                <span className="min-w-0 flex-1 font-medium">
                  <SafeText>{name}</SafeText>
                </span>
                <span className="text-ink-2 text-sm max-md:hidden">{t(place === 0 ? "orderFirst" : "orderThen")}</span>
                <span className="flex">
                  <IconButton
                    icon="chevron-up"
                    label={t("moveUp", { name })}
                    disabled={place === 0}
                    onClick={() => move(place, place - 1)}
                  />
                  <IconButton
                    icon="chevron-down"
                    label={t("orderDown", { name })}
                    disabled={place === chain.length - 1}
                    onClick={() => move(place, place + 1)}
                  />
                  <IconButton
                    icon="cross"
                    danger
                    label={t("removeNamed", { name })}
                    onClick={() => onChange(chain.filter((other) => other !== ref))}
                  />
                </span>
              </li>
            );
          })}
        </ol>
      )}
      <Another taken={chain} onAdd={(ref) => onChange([...chain, ref])} />
    </>
  );
}

function Another({ taken, onAdd }: { taken: readonly Ref[]; onAdd: (ref: Ref) => void }) {
  const [typed, setTyped] = useState(NONE);
  const ref = { ...typed, model: typed.model.trim() };
  const there = taken.some((other) => nameOf(other) === nameOf(ref));
  return (
    <div className="grid items-end gap-3 md:grid-cols-[1fr_1.4fr_auto]">
      <ModelFields value={typed} onChange={setTyped} listed />
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
