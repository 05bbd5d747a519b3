/** One provider: what it is, where its key is, what its last test said, and what can be done with it. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { withKey } from "@/api/queries";
import { chooseChain, type Provider, REHEARSAL, readAgain, useTrying } from "@/features/models/connecting";
import { CheckNote, TryState } from "@/features/models/TryState";
import { keyWords } from "@/features/models/words";
import { t as m } from "@/i18n/en/models";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { IconButton } from "@/ui/IconButton";
import { Menu, type MenuEntry } from "@/ui/Menu";
import { RemoveDialog } from "@/ui/RemoveDialog";
import { SafeText } from "@/ui/SafeText";
import { Badge, State } from "@/ui/State";
import { Time } from "@/ui/Time";
import { KeyDialog } from "./KeyDialog";
import { ModelsDialog } from "./ModelsDialog";
import { ProviderDialog } from "./ProviderDialog";
import { SettingsDialog } from "./SettingsDialog";

type Asked = "" | "edit" | "key" | "models" | "settings" | "remove";

export function ProviderLine({ row, chain }: { row: Provider; chain: readonly Schema["ModelRef"][] }) {
  const [asked, ask] = useState<Asked>("");
  const trying = useTrying();
  const { phase } = trying.state;
  const busy = phase === "saving" || phase === "asking";
  const close = (open: boolean) => !open && ask("");
  const mine = !row.found;
  const entries: MenuEntry[] = [
    { label: t("listModels"), icon: "list", onSelect: () => ask("models") },
    ...(mine
      ? ([
          { label: t("edit"), icon: "edit", onSelect: () => ask("edit") },
          { label: t("settings"), icon: "gear", onSelect: () => ask("settings") },
          { label: t("replaceKey"), icon: "key", onSelect: () => ask("key") },
          { kind: "line" },
          { label: t("remove"), icon: "trash", danger: true, onSelect: () => ask("remove") },
        ] satisfies MenuEntry[])
      : []),
  ];
  return (
    <li className="grid gap-2 py-3">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <div className="min-w-0 flex-1 basis-60">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span className="font-medium">
              <SafeText>{row.name}</SafeText>
            </span>
            {row.found && <Badge>{t("found")}</Badge>}
            {row.clearance === "public" && <Badge kind="tainted">{t("publicOnly")}</Badge>}
            <Last row={row} />
          </p>
          <Facts row={row} />
        </div>
        <div className="flex items-center gap-1">
          <Button
            size="sm"
            busy={busy && m("try")}
            onClick={() => void trying.begin({ name: row.name })}
            aria-label={`${t("test")} ${row.name}`}
          >
            {t("test")}
          </Button>
          {row.preset !== REHEARSAL && (
            <Menu trigger={<IconButton icon="more" label={t("more", { name: row.name })} />} entries={entries} />
          )}
        </div>
      </div>
      {phase !== "idle" && <TryState state={trying.state} onStop={trying.stop} />}
      {phase === "idle" && row.checked && !row.checked.ok && <CheckNote check={row.checked} />}
      {asked === "edit" && <ProviderDialog open onOpenChange={close} row={row} taken={[]} />}
      {asked === "key" && <KeyDialog row={row} onOpenChange={close} />}
      {asked === "settings" && <SettingsDialog row={row} onOpenChange={close} />}
      {asked === "models" && (
        <ModelsDialog
          row={row}
          onOpenChange={close}
          onUse={(model) => chooseChain([{ provider: row.name, model }, ...without(chain, row.name, model)])}
        />
      )}
      {asked === "remove" && (
        <RemoveDialog
          name={row.name}
          why={t("removeAbout")}
          send={sendRemoval}
          onClose={() => ask("")}
          onRemoved={readAgain}
        />
      )}
    </li>
  );
}

function Last({ row }: { row: Provider }) {
  const { checked } = row;
  if (!checked) return <span className="text-ink-3 text-sm">{m("notTried")}</span>;
  return (
    <span className="text-sm">
      <State kind={checked.ok ? "good" : "danger"}>
        {checked.ok ? m("worked", { name: row.name }) : m("failed", { name: row.name })}
      </State>{" "}
      <span className="text-ink-2">
        <Time at={checked.at_ms} />
      </span>
    </span>
  );
}

function Facts({ row }: { row: Provider }) {
  const key = keyWords(row);
  return (
    <p className="mt-0.5 text-ink-2 text-sm [overflow-wrap:anywhere]">
      <SafeText>{row.model || t("noModel")}</SafeText>
      <span aria-hidden="true"> · </span>
      {m("key")}: <span className={key.kind === "danger" ? "text-danger" : undefined}>{key.text}</span>
      {row.base_url && (
        <>
          <span aria-hidden="true"> · </span>
          <SafeText>{row.base_url}</SafeText>
        </>
      )}
    </p>
  );
}

const sendRemoval = (provider: string, key: string) =>
  data(api.DELETE("/providers/{provider}", { params: { path: { provider }, ...withKey(key) } }));

function without(chain: readonly Schema["ModelRef"][], provider: string, model: string): Schema["ModelRef"][] {
  return chain.filter((ref) => ref.provider !== REHEARSAL && !(ref.provider === provider && ref.model === model));
}
