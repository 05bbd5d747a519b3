/** A profile, and tools that are allowed ahead, tried on the home's own history before they take effect. */
import { useMutation } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/rules";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { History } from "./Preview";

type Change = Partial<Pick<Schema["PolicyOnTrial"], "profile" | "grants">>;

/** Use it with a key that names the change, so that an older answer goes with it. */
export function Tried({ profile = null, grants = [] }: Change) {
  const tried = useMutation({
    mutationFn: () =>
      data(api.POST("/rules/simulate", { body: { profile, grants, add: [], remove: [], last: 500, examples: 0 } })),
  });
  if (tried.data)
    return tried.data.calls ? <History history={tried.data} /> : <p className="text-sm">{t("noHistory")}</p>;
  return (
    <div className="grid justify-items-start gap-1">
      <Button size="sm" kind="quiet" busy={tried.isPending && `${t("making")}…`} onClick={() => tried.mutate()}>
        {t("tryIt")}
      </Button>
      <ErrorNote error={tried.error} />
    </div>
  );
}
