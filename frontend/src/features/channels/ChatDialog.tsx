/** Change what a chat is called, what it may do, and who is what in it. */
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/channels";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { FormDialog } from "@/ui/FormDialog";
import { Input } from "@/ui/Input";
import { SafeText } from "@/ui/SafeText";
import { Select } from "@/ui/Select";
import { toast } from "@/ui/Toasts";
import { type Chat, draftOf, NAME, ROLES, type Role, rightsOf } from "./channel";
import { RightsFields } from "./RightsFields";

export function ChatDialog({ chat, onClose }: { chat: Chat; onClose: () => void }) {
  const [name, setName] = useState(chat.name);
  const [people, setPeople] = useState(chat.people);
  const [draft, setDraft] = useState(() => draftOf(chat.rights));
  const [tried, setTried] = useState(false);
  const ownerless = !people.some((one) => one.role === "owner");
  const save = useCommand((body: Schema["WantedChat"], key) => {
    const params = { path: { channel: chat.channel }, ...withKey(key) };
    return data(api.PUT("/channels/{channel}/chats", { params, body }));
  });

  function submit() {
    setTried(true);
    if (!NAME.test(name) || ownerless || !draft.directory.trim()) return;
    save.mutate(
      { chat: chat.id, name, people, rights: rightsOf(draft) },
      {
        onSuccess: async () => {
          toast({ title: t("changed", { name }), kind: "good" });
          await queries.invalidateQueries({ queryKey: ["channels"] });
          onClose();
        },
      },
    );
  }

  return (
    <FormDialog
      title={t("changeTitle", { name: chat.name })}
      send={t("save")}
      busy={save.isPending && t("savingNow")}
      onSend={submit}
      onClose={onClose}
    >
      <Field label={t("name")} hint={t("chatNameHint")} error={tried && !NAME.test(name) && t("nameWrong")}>
        <Input mono value={name} onValueChange={setName} />
      </Field>
      <fieldset className="grid gap-3">
        <legend className="mb-1 font-medium text-sm">{t("people")}</legend>
        {people.map((one) => (
          <div key={one.id} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
            <span className="min-w-0">
              <SafeText>{one.name || one.id}</SafeText>{" "}
              {one.name && (
                <span className="text-ink-2 text-sm">
                  <SafeText mono>{one.id}</SafeText>
                </span>
              )}
            </span>
            <Select<Role | "none">
              size="sm"
              className="w-44"
              aria-label={t("roleOf", { name: one.name || one.id })}
              items={[...ROLES, "none" as const].map((value) => ({ value, label: t(`role_${value}`) }))}
              value={one.role}
              onValueChange={(role) => setPeople(withRole(people, one.id, role))}
            />
          </div>
        ))}
        {tried && ownerless && <p className="text-danger text-sm">{t("ownerMissing")}</p>}
        <p className="max-w-measure text-ink-2 text-sm">{t("rolesWhy")}</p>
      </fieldset>
      <RightsFields
        draft={draft}
        change={(some) => setDraft({ ...draft, ...some })}
        group={!chat.private}
        tried={tried}
      />
      <ErrorNote error={save.error} />
    </FormDialog>
  );
}

function withRole(people: readonly Schema["Person"][], id: string, role: Role | "none"): Schema["Person"][] {
  return people.flatMap((one) => (one.id !== id ? one : role === "none" ? [] : { ...one, role }));
}
