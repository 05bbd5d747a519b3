/** Which models an objective uses: the home's own, or others in an order of its own. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { ModelChain, nameOf } from "@/features/models/ModelChain";
import { t } from "@/i18n/en/new-session";
import { Button } from "@/ui/Button";
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
  const back = () => {
    setOwn(false);
    onChange([]);
  };
  return (
    <div className="flex flex-col gap-3">
      <p className="max-w-measure text-ink-2 text-sm">{t("modelsOrder")}</p>
      <ModelChain chain={chain} onChange={onChange} />
      <Button kind="quiet" size="sm" className="self-start" onClick={back}>
        {t("useDefault")}
      </Button>
    </div>
  );
}
