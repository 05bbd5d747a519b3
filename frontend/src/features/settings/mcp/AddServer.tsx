import { useRef, useState } from "react";
import { api, data, newKey } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/mcp";
import { Checkbox } from "@/ui/Checkbox";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { RadioGroup } from "@/ui/RadioGroup";
import { TextArea } from "@/ui/TextArea";

/** What only the command line sets. */
const PLAIN = {
  settings: {},
  client_id: "",
  client_secret: "",
  grant: "authorization_code",
  issuer: "",
  scope: "",
} as const;
const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Sets a server up. Its tools are asked for by a test, and wait for approval then. */
export function AddServer({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [kind, setKind] = useState<"url" | "command">("url");
  const [name, setName] = useState("");
  const [place, setPlace] = useState("");
  const [hosts, setHosts] = useState("");
  const [near, setNear] = useState(false);
  const [folder, setFolder] = useState(false);
  const [tried, setTried] = useState(false);
  const values = useRef<HTMLTextAreaElement>(null);
  const missing = !name.trim() || !place.trim();
  // Values are read from their field when they are sent, and are no part of what this page remembers of the request.
  const add = useCommand((_: "add") => {
    const pairs = lines(values.current?.value ?? "").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at), line.slice(at + 1)] as const;
    });
    const here = kind === "command";
    const body = {
      ...PLAIN,
      name: name.trim(),
      url: here ? "" : place.trim(),
      private: !here && near,
      command: here ? lines(place) : [],
      hosts: here ? lines(hosts) : [],
      folder: here && folder,
      secrets: Object.fromEntries(pairs),
    };
    return data(api.POST("/mcp", { params: withKey(newKey()), body }));
  });

  function send() {
    setTried(true);
    if (missing) return;
    add.mutate("add", {
      onSuccess: () => {
        onAdded();
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={t("add")}
      cancel={t("cancel")}
      send={t("addIt")}
      busy={add.isPending && t("addIt")}
      onSend={send}
      onClose={onClose}
    >
      <Field label={t("name")} hint={t("nameHint")} error={tried && missing && t("missing")}>
        <Input mono value={name} onValueChange={setName} />
      </Field>
      <RadioGroup<"url" | "command">
        label={t("kind")}
        items={[
          { value: "url", label: t("url") },
          { value: "command", label: t("command") },
        ]}
        value={kind}
        onValueChange={setKind}
      />
      {kind === "url" ? (
        <>
          <Field label={t("url")}>
            <Input mono type="url" value={place} onValueChange={setPlace} />
          </Field>
          <Checkbox label={t("private")} checked={near} onCheckedChange={setNear} />
        </>
      ) : (
        <>
          <Field label={t("command")} hint={t("commandHint")}>
            <TextArea mono value={place} onValueChange={setPlace} />
          </Field>
          <Field label={t("hosts")} hint={t("hostsHint")} optional>
            <TextArea mono rows={2} value={hosts} onValueChange={setHosts} />
          </Field>
          <Checkbox label={t("folder")} hint={t("folderHint")} checked={folder} onCheckedChange={setFolder} />
        </>
      )}
      <Field label={t("values")} hint={t("valuesHint")} optional>
        <TextArea mono rows={2} ref={values} autoComplete="off" />
      </Field>
      {add.error && <ErrorNote error={add.error} />}
    </FormDialog>
  );
}
