/** What a person can choose from for a model: what is here, what can be connected, and rehearsing without one. */
import type { Schema } from "@/api/client";
import { type Provider, REHEARSAL, type Wish } from "@/features/models/connecting";
import { hasKey, keyWords } from "@/features/models/words";
import { t } from "@/i18n/en/setup";

export interface Choice {
  id: string;
  group: "here" | "connect" | "none";
  title: string;
  hint: string;
  /** How the provider is called, or will be. */
  name: string;
  preset: string;
  row?: Provider | undefined;
  needsKey: boolean;
  needsAddress: boolean;
}

const COMPATIBLE = "compatible";

export function choicesOf(rows: readonly Provider[], presets: readonly Schema["PresetRow"][]): Choice[] {
  const here = rows.filter((row) => row.preset !== REHEARSAL);
  const taken = new Set(here.map((row) => row.name));
  const title = (name: string) => presets.find((preset) => preset.name === name)?.title ?? name;
  const free = presets.filter((preset) => !taken.has(preset.name) && (preset.key_env || preset.name === COMPATIBLE));
  return [
    ...here.map((row) => ({
      id: `row:${row.name}`,
      // What a person connects stays where they chose it, whatever came of it.
      group: row.found ? ("here" as const) : ("connect" as const),
      title: row.name === row.preset ? title(row.preset) : row.name,
      hint: row.key === "none" ? row.base_url : t("keyFrom", { where: keyWords(row).text }),
      name: row.name,
      preset: row.preset,
      row,
      needsKey: !hasKey(row),
      needsAddress: row.preset === COMPATIBLE && !row.found,
    })),
    ...free.map((preset) => ({
      id: `preset:${preset.name}`,
      group: "connect" as const,
      title: preset.name === COMPATIBLE ? t("compatible") : preset.title,
      hint: preset.name === COMPATIBLE ? t("compatibleHint") : t("keyTyped"),
      name: preset.name === COMPATIBLE ? unused("server", taken) : preset.name,
      preset: preset.name,
      needsKey: preset.name !== COMPATIBLE,
      needsAddress: preset.name === COMPATIBLE,
    })),
    {
      id: REHEARSAL,
      group: "none",
      title: t("rehearsal"),
      hint: t("rehearsalHint"),
      name: REHEARSAL,
      preset: REHEARSAL,
      needsKey: false,
      needsAddress: false,
    },
  ];
}

/** The provider as it is to be saved. */
export function wishOf(choice: Choice, typed: { address: string; model: string; withKey: boolean }): Wish {
  const { row } = choice;
  const env = /^(env|keychain):\S+/.exec(row?.key ?? "")?.[0];
  return {
    name: choice.name,
    preset: choice.preset as Wish["preset"],
    base_url: typed.address.trim() || (row && !row.found ? row.base_url : ""),
    model: typed.model || (row && !row.found ? row.model : ""),
    key: typed.withKey ? "vault" : (env ?? (row?.key === "vault" || row?.key === "missing" ? "vault" : "none")),
    clearance: row?.clearance ?? "private",
    account_of: row?.account_of ?? "",
  };
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
  return free;
}
