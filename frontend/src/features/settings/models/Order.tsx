/** Which model is asked first, and which ones after it: a draft until it is saved. */
import { useState } from "react";
import type { Schema } from "@/api/client";
import { useCommand } from "@/api/queries";
import { chooseChain, readAgain } from "@/features/models/connecting";
import { ModelChain } from "@/features/models/ModelChain";
import { t } from "@/i18n/en/settings";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { toast } from "@/ui/Toasts";

type Ref = Schema["ModelRef"];

export function Order({ status }: { status: Schema["Readiness"] }) {
  const [draft, setDraft] = useState<readonly Ref[]>(status.chain);
  const save = useCommand((chain: readonly Ref[]) => chooseChain([...chain]));
  const same = JSON.stringify(draft) === JSON.stringify(status.chain);
  const onSuccess = () => {
    toast({ title: t("saved"), kind: "good" });
    return readAgain();
  };
  return (
    <div className="grid gap-4">
      {!status.chosen && <p className="text-ink-2">{t("orderFound")}</p>}
      {draft.length === 0 && <p className="text-ink-2">{t("orderEmpty")}</p>}
      <ModelChain chain={draft} onChange={setDraft} />
      <ErrorNote error={save.error} />
      <div className="flex flex-wrap items-center gap-3">
        <Button
          kind="primary"
          disabled={same && status.chosen}
          busy={save.isPending && `${t("saving")}…`}
          onClick={() => save.mutate(draft, { onSuccess })}
        >
          {t("save")}
        </Button>
        <span className="text-ink-2 text-sm">{same && status.chosen && t("orderUnchanged")}</span>
      </div>
    </div>
  );
}
