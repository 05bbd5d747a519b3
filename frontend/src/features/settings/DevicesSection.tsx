/** The devices that use the page from outside: pairing one, naming it, and removing it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { isOutside } from "@/api/passkey";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/devices";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { Panel } from "@/ui/Panel";
import { RemoveDialog } from "@/ui/RemoveDialog";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { Time } from "@/ui/Time";

const readAgain = () => queries.invalidateQueries({ queryKey: ["remote"] });

export function DevicesSection() {
  const { data: reach, error } = useQuery({ queryKey: ["remote"], queryFn: () => data(api.GET("/remote")) });
  const [pairing, setPairing] = useState(false);
  if (error && !reach) return <ErrorNote error={error} />;
  if (!reach) return <Skeleton lines={4} />;
  if (!reach.url) {
    return (
      <Panel title={t("title")}>
        <Empty title={t("off")}>{t("offWhy")}</Empty>
      </Panel>
    );
  }
  return (
    <Panel
      title={t("title")}
      description={t("about", { url: reach.url })}
      actions={
        !isOutside() && (
          <Button icon="plus" onClick={() => setPairing(true)}>
            {t("pair")}
          </Button>
        )
      }
    >
      {isOutside() && <p className="mb-3 text-ink-2 text-sm">{t("here")}</p>}
      {reach.devices.length === 0 ? (
        <Empty title={t("none")}>{t("noneWhy")}</Empty>
      ) : (
        <ul className="divide-y divide-line border-y border-line">
          {reach.devices.map((device) => (
            <DeviceLine key={device.credential} device={device} />
          ))}
        </ul>
      )}
      {pairing && <PairDialog onClose={() => setPairing(false)} />}
    </Panel>
  );
}

function DeviceLine({ device: { name, paired_ms, seen_ms } }: { device: Schema["Device"] }) {
  const [open, setOpen] = useState<"" | "rename" | "remove">("");
  const close = () => setOpen("");
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3" aria-label={name}>
      <div>
        <h3 className="font-medium">
          <SafeText>{name}</SafeText>
        </h3>
        <p className="text-ink-2 text-sm">
          {t("paired")} <Time at={paired_ms} />,{" "}
          {seen_ms ? (
            <>
              {t("seen")} <Time at={seen_ms} />
            </>
          ) : (
            t("never")
          )}
        </p>
      </div>
      <div className="flex gap-2">
        <Button size="sm" onClick={() => setOpen("rename")}>
          {t("rename")}
        </Button>
        <Button size="sm" kind="danger" onClick={() => setOpen("remove")}>
          {t("remove")}
        </Button>
      </div>
      {open === "rename" && <RenameDialog name={name} onClose={close} />}
      {open === "remove" && (
        <RemoveDialog
          name={name}
          why={t("removeAbout")}
          send={(name, key) =>
            data(api.DELETE("/remote/devices/{name}", { params: { path: { name }, ...withKey(key) } }))
          }
          onClose={close}
          onRemoved={readAgain}
        />
      )}
    </li>
  );
}

function RenameDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [to, setTo] = useState(name);
  const rename = useCommand((to: string, key) =>
    data(api.PUT("/remote/devices/{name}", { params: { path: { name }, ...withKey(key) }, body: { to } })),
  );

  async function renamed() {
    await readAgain();
    onClose();
  }

  return (
    <FormDialog
      title={t("renameTitle", { name })}
      description={t("renameAbout")}
      send={t("rename")}
      busy={rename.isPending && t("renaming")}
      disabled={to === "" || to === name}
      onSend={() => rename.mutate(to, { onSuccess: renamed })}
      onClose={onClose}
    >
      <Field label={t("name")} hint={t("nameHint")}>
        <Input mono value={to} onValueChange={setTo} />
      </Field>
      <ErrorNote error={rename.error} />
    </FormDialog>
  );
}

function PairDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const make = useCommand((name: string) => data(api.POST("/remote/pairing", { body: { name } })));
  const link = make.data;
  return (
    <FormDialog
      title={t("pair")}
      description={t("pairAbout")}
      send={link ? t("again") : t("make")}
      cancel={link && t("done")}
      busy={make.isPending && t("making")}
      disabled={name === ""}
      onSend={() => make.mutate(name)}
      onClose={onClose}
    >
      <Field label={t("name")} hint={t("nameHint")}>
        <Input mono value={name} onValueChange={setName} />
      </Field>
      <ErrorNote error={make.error} />
      {link && (
        <section aria-label={t("scan")} className="grid justify-items-start gap-3">
          <h3 className="font-medium">{t("scan")}</h3>
          <img src={link.qr} alt={t("qr")} className="size-64 rounded-md bg-white" />
          <p className="text-ink-2 text-sm">
            {t("scanAbout", { name: link.name, until: new Date(link.expires_ms).toLocaleTimeString() })}
          </p>
          <CopyButton words text={link.url} label={t("copyLink")} />
        </section>
      )}
    </FormDialog>
  );
}
