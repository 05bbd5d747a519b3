/** Add a channel, or change one: what its platform asks for. Tokens go from their fields into the vault. */
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { sendValue } from "@/features/secrets/SecretChoice";
import { t } from "@/i18n/en/channels";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { toast } from "@/ui/Toasts";
import { called, flawsOf, freeName, NAME, secretOf, settingsOf } from "./channel";

export interface SetChannelProps {
  /** The one that is changed; else one is added. */
  older?: Schema["Channel"];
  /** The kind that is chosen at first, where there is such a one. */
  first?: string;
  taken: readonly string[];
  onClose: () => void;
}

export function SetChannel({ older, first, taken, onClose }: SetChannelProps) {
  const kinds = useQuery({
    queryKey: ["channels", "kinds"],
    queryFn: async () => (await data(api.GET("/channels/kinds"))).items,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const secrets = useQuery({ queryKey: ["secrets"], queryFn: () => data(api.GET("/secrets")) });
  const vault = secrets.data?.items.map((secret) => secret.name) ?? [];
  const [kind, setKind] = useState(older?.kind ?? first ?? "");
  const [typedName, setName] = useState<string | null>(null);
  const [values, setValues] = useState<Record<string, string>>({ ...older?.settings });
  const [authorities, setAuthorities] = useState(older?.ca_file ?? "");
  const [tried, setTried] = useState(false);
  const [flaws, setFlaws] = useState<Record<string, string>>({});
  const tokens = useRef<Record<string, HTMLInputElement | null>>({});
  const manifest = kinds.data?.find((one) => one.kind === kind) ?? (older ? undefined : kinds.data?.[0]);
  const name = older?.name ?? typedName ?? freeName(manifest?.kind ?? "", taken);
  const fields = manifest?.fields.filter((field) => field.secret) ?? [];
  /** The secret of a token, by its field, where the vault has it. */
  const known = (field: string) =>
    [older?.secrets[field], secretOf(name, field)].find((one) => one && vault.includes(one));
  const wrongName = !NAME.test(name) ? t("nameWrong") : !older && taken.includes(name) ? t("nameTaken") : "";

  // What is remembered of the request are names; a token goes from its field to the daemon and is cleared there.
  const save = useCommand(async (body: Schema["WantedChannel"], key) => {
    for (const { name: field } of fields) {
      const element = tokens.current[field] ?? null;
      const secret = secretOf(name, field);
      if (element?.value) await sendValue(secret, element, vault.includes(secret));
    }
    return data(api.POST("/channels", { params: withKey(key), body }));
  });

  function submit() {
    if (!manifest) return;
    setTried(true);
    const typed = (field: string) => Boolean(tokens.current[field]?.value);
    const kept = fields.map((field) => field.name).filter(known);
    const found = flawsOf(manifest, values, typed, kept);
    setFlaws(found);
    if (wrongName || Object.keys(found).length > 0) return;
    const named = fields.map(({ name: field }) => [field, typed(field) ? secretOf(name, field) : known(field)]);
    const body = {
      name,
      kind: manifest.kind,
      settings: settingsOf(manifest, values),
      secrets: Object.fromEntries(named.filter(([, secret]) => secret)) as Record<string, string>,
      ca_file: authorities.trim(),
    };
    save.mutate(body, {
      onSuccess: async () => {
        toast(older ? { title: t("changed", { name }), kind: "good" } : added(name));
        await queries.invalidateQueries({ queryKey: ["channels"] });
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={older ? t("changeTitle", { name }) : t("addTitle")}
      description={older ? undefined : t("addAbout")}
      send={older ? t("save") : t("add")}
      busy={save.isPending && t("savingNow")}
      disabled={!manifest || secrets.isPending}
      onSend={submit}
      onClose={onClose}
    >
      {kinds.isPending && <Skeleton lines={4} />}
      <ErrorNote error={kinds.error ?? secrets.error} />
      {!older && kinds.data && (
        <Field label={t("platform")} hint={manifest?.answers === false && t("noAnswers")}>
          <Select
            items={kinds.data.map((one) => ({ value: one.kind, label: called(one.kind, one.title) }))}
            value={manifest?.kind ?? null}
            onValueChange={(next) => {
              setKind(next);
              setValues({});
              setFlaws({});
            }}
          />
        </Field>
      )}
      {!older && manifest && (
        <Field label={t("name")} hint={t("nameHint")} error={tried && wrongName}>
          <Input mono value={name} onValueChange={setName} />
        </Field>
      )}
      {manifest?.fields.map((field) =>
        field.secret ? (
          <Field
            key={`${manifest.kind} ${field.name}`}
            label={called(manifest.kind, field.title, field.name)}
            hint={known(field.name) ? t("tokenKept", { name: known(field.name) ?? "" }) : t("tokenHint")}
            error={flaws[field.name]}
            optional={!field.needed}
          >
            <Input
              ref={(element: HTMLInputElement | null) => {
                tokens.current[field.name] = element;
              }}
              type="password"
              mono
              autoComplete="new-password"
              data-1p-ignore=""
              data-lpignore="true"
            />
          </Field>
        ) : (
          <Field
            key={`${manifest.kind} ${field.name}`}
            label={called(manifest.kind, field.title, field.name)}
            error={flaws[field.name]}
            optional={!field.needed || field.default !== ""}
          >
            <Input
              mono
              value={values[field.name] ?? ""}
              onValueChange={(value) => setValues({ ...values, [field.name]: value })}
              placeholder={field.default}
            />
          </Field>
        ),
      )}
      {manifest && (
        <Disclosure summary={t("ownServer")} defaultOpen={authorities !== ""}>
          <Field label={t("caFile")} hint={t("caFileHint")} optional>
            <Input mono value={authorities} onValueChange={setAuthorities} placeholder="/etc/ssl/own.pem" />
          </Field>
        </Disclosure>
      )}
      <ErrorNote error={save.error} />
    </FormDialog>
  );
}

const added = (name: string) => ({ title: t("added", { name }), detail: t("addedNext"), kind: "good" }) as const;
