/** Sentences that could be standing rules. Nothing becomes one unless the person says so. */
import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { queries } from "@/api/queries";
import { understood } from "@/features/rules/words";
import { t } from "@/i18n/en/directives";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { toast } from "@/ui/Toasts";
import { again, useMakeRule } from "./commands";

export function Offers({ id }: { id: string }) {
  const found = useQuery({
    queryKey: ["directives", id, "rules"],
    queryFn: () => data(api.GET("/directives/{id}/rules", { params: { path: { id } } })),
  });
  const make = useMakeRule();
  const rules = found.data?.items ?? [];
  if (rules.length === 0) return null;
  return (
    <section aria-label={t("offers")} className="grid gap-2 border-line border-t pt-3">
      <p className="font-medium text-sm" aria-hidden="true">
        {t("offers")}
      </p>
      <p className="max-w-measure text-ink-2 text-sm">{t("offersAbout")}</p>
      <ul className="grid gap-1.5">
        {rules.map((rule) => (
          <li key={rule.id} className="flex flex-wrap items-center justify-between gap-2">
            <div>
              <SafeText>{rule.text}</SafeText>
              <p className="text-ink-2 text-sm">
                <SafeText>{understood(rule)}</SafeText>
              </p>
            </div>
            <Button
              size="sm"
              icon="shield"
              busy={make.isPending && make.variables.rule?.id === rule.id && t("makingRule")}
              onClick={() =>
                make.mutate(
                  { rule, text: "", directory: rule.directory, confirmed: true, replaces: "" },
                  {
                    onSuccess: async () => {
                      toast({ title: t("ruleMade"), detail: rule.text, kind: "good" });
                      await Promise.all([again(), queries.invalidateQueries({ queryKey: ["rules"] })]);
                    },
                  },
                )
              }
            >
              {t("makeRule")}
            </Button>
          </li>
        ))}
      </ul>
      <ErrorNote title={t("ruleFailed")} error={make.error} />
    </section>
  );
}
