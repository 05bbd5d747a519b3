/** One secret: its placeholder, where its value may go, and what can be done with it. */
import { type FormEvent, useRef, useState } from "react";
import { api, data } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/secrets";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Disclosure } from "@/ui/Disclosure";
import { Drawer } from "@/ui/Drawer";
import { ErrorNote } from "@/ui/ErrorNote";
import { RemoveDialog } from "@/ui/RemoveDialog";
import { SafeText } from "@/ui/SafeText";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import { sendValue } from "./AddSecret";
import { BindForm } from "./BindForm";
import { type Binding, bindingWords, destinationOf, type Secret } from "./columns";
import { type ValueElement, ValueField, valueFlaw } from "./ValueField";

const readAgain = () => queries.invalidateQueries({ queryKey: ["secrets"] });

export function SecretDrawer({ row, onClose }: { row: Secret; onClose: () => void }) {
  const [asked, ask] = useState(false);
  const [binding, setBinding] = useState(row.bindings.length === 0);
  return (
    <Drawer
      open
      onOpenChange={(open) => !open && onClose()}
      title={<SafeText>{row.name}</SafeText>}
      footer={
        <Button kind="danger" onClick={() => ask(true)}>
          {t("remove")}
        </Button>
      }
    >
      <div className="grid gap-7">
        <section>
          <h3 className="font-semibold">{t("placeholder")}</h3>
          <p className="mt-1 flex items-center justify-between gap-2 rounded-md border border-line bg-surface py-1 pe-1 ps-3">
            <SafeText mono>{row.placeholder}</SafeText>
            <CopyButton text={row.placeholder} label={t("copyPlaceholder")} />
          </p>
          <p className="mt-1.5 text-ink-2 text-sm">{t("placeholderWhy")}</p>
          <Facts row={row} />
        </section>
        <section>
          <h3 className="font-semibold">{t("destinations")}</h3>
          {row.bindings.length === 0 ? (
            <p className="mt-1 text-ink-2">{t("destinationsNone")}</p>
          ) : (
            <ul className="mt-1 divide-y divide-line border-line border-y">
              {row.bindings.map((binding) => (
                <Bound key={JSON.stringify(binding)} name={row.name} binding={binding} />
              ))}
            </ul>
          )}
          <Disclosure summary={t("bindTitle")} open={binding} onOpenChange={setBinding} className="mt-2">
            <BindForm name={row.name} onDone={readAgain} />
          </Disclosure>
        </section>
        <section>
          <Disclosure summary={t("replace")}>
            <Replace name={row.name} />
          </Disclosure>
        </section>
      </div>
      {asked && (
        <RemoveDialog
          name={row.name}
          why={t("removeWhy")}
          send={sendRemoval}
          onClose={() => ask(false)}
          onRemoved={() => {
            onClose();
            return readAgain();
          }}
        />
      )}
    </Drawer>
  );
}

function Facts({ row }: { row: Secret }) {
  return (
    <dl className="mt-3 grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1 text-sm">
      <dt className="text-ink-2">{t("lastUsed")}</dt>
      <dd>
        {row.used_ms ? (
          <>
            <Time at={row.used_ms} />, <SafeText>{row.used_at}</SafeText>
          </>
        ) : (
          t("never")
        )}
      </dd>
      <dt className="text-ink-2">{t("added")}</dt>
      <dd>
        <Time at={row.added_ms} />
      </dd>
      <dt className="text-ink-2">{t("version")}</dt>
      <dd className="tabular">{row.version}</dd>
    </dl>
  );
}

function Bound({ name, binding }: { name: string; binding: Binding }) {
  const unbind = useCommand((whose: string, key) =>
    data(
      api.POST("/secrets/{secret}/unbind", {
        params: { path: { secret: whose }, ...withKey(key) },
        body: binding.type === "host" ? { host: binding.host, tool: "" } : { host: "", tool: binding.tool },
      }),
    ),
  );
  return (
    <li className="flex items-start justify-between gap-3 py-2">
      <div className="min-w-0">
        <SafeText>{bindingWords(binding)}</SafeText>
        {binding.type === "host" && <p className="text-ink-2 text-sm">{t(binding.tls ? "tlsOn" : "tlsOff")}</p>}
        {unbind.error && <p className="text-danger text-sm">{unbind.error.message}</p>}
      </div>
      <Button
        size="sm"
        kind="danger"
        aria-label={t("unbindOf", { name: destinationOf(binding) })}
        busy={unbind.isPending && `${t("removing")}…`}
        onClick={() => unbind.mutate(name, { onSuccess: readAgain })}
      >
        {t("unbind")}
      </Button>
    </li>
  );
}

function Replace({ name }: { name: string }) {
  const element = useRef<ValueElement | null>(null);
  const [flaw, setFlaw] = useState("");
  const replace = useCommand((whose: string) => sendValue(whose, element.current, true));

  function submit(event: FormEvent) {
    event.preventDefault();
    const missing = valueFlaw(element.current?.value ?? "");
    setFlaw(missing);
    if (!missing) replace.mutate(name, { onSuccess: () => toast({ title: t("replaced"), kind: "good" }) });
  }

  return (
    <form onSubmit={submit} noValidate className="grid gap-3 pt-1">
      <p className="text-ink-2 text-sm">{t("replaceWhy")}</p>
      <ValueField element={element} error={flaw} />
      <ErrorNote error={replace.error} />
      <div>
        <Button type="submit" busy={replace.isPending && `${t("saving")}…`}>
          {t("replaceIt")}
        </Button>
      </div>
    </form>
  );
}

const sendRemoval = (secret: string, key: string) =>
  data(api.DELETE("/secrets/{secret}", { params: { path: { secret }, ...withKey(key) } }));
