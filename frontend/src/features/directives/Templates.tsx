import { useQuery } from "@tanstack/react-query";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/directives";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";

export function Templates({ onUse, onClose }: { onUse: (found: Schema["Template"]) => void; onClose: () => void }) {
  const found = useQuery({
    queryKey: ["directives", "templates"],
    queryFn: () => data(api.GET("/directives/templates")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="lg"
      title={t("templatesTitle")}
      description={t("templatesAbout")}
    >
      <ErrorNote error={found.error} />
      {found.isPending && <Skeleton lines={8} />}
      <ul className="border-line border-t">
        {found.data?.items.map((one) => (
          <li key={`${one.kind} ${one.title}`} className="border-line border-b py-3">
            <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
              <div>
                <p className="font-medium">{one.title}</p>
                <p className="text-ink-2 text-sm">{t(one.kind)}</p>
              </div>
              <Button size="sm" aria-label={t("useNamed", { title: one.title })} onClick={() => onUse(one)}>
                {t("use")}
              </Button>
            </div>
            <p className="mt-1 max-w-measure text-sm">
              <SafeText lines>{one.text}</SafeText>
            </p>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
