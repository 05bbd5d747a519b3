/** What was moved out of folders because other programs would have obeyed it. Paths are hostile: a machine chose them. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useStreams } from "@/api/streams";
import { t } from "@/i18n/en/quarantine";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { ButtonLink, Link } from "@/ui/Link";
import { PageHead } from "@/ui/PageHead";
import { SafeText } from "@/ui/SafeText";
import { Skeleton } from "@/ui/Skeleton";
import { Time } from "@/ui/Time";
import { SettleDialog, type Settling } from "./SettleDialog";

type Item = Schema["Quarantined"];

export function QuarantinePage() {
  return (
    <div className="mx-auto max-w-220 p-4 md:p-6">
      <PageHead title={t("title")} description={t("about")} />
      <Items />
    </div>
  );
}

function Items() {
  const { data: page, error } = useQuery({
    queryKey: ["quarantine"],
    queryFn: () => data(api.GET("/quarantine")),
  });
  const rows = useStreams(page?.items.map((item) => item.session) ?? []);
  const [asking, setAsking] = useState<Settling | null>(null);
  if (error) return <ErrorNote title={t("failed")} error={error} />;
  if (!page) return <Skeleton lines={5} />;
  if (page.items.length === 0) {
    return (
      <Empty title={t("noneTitle")} action={<ButtonLink to="/objectives">{t("noneAction")}</ButtonLink>}>
        {t("noneWhy")}
      </Empty>
    );
  }
  return (
    <>
      <ul aria-label={t("list")} className="divide-y divide-line border-line border-y">
        {page.items.toReversed().map((item) => (
          <li key={item.id} className="flex flex-wrap items-center gap-x-6 gap-y-3 py-3">
            <About item={item} row={rows.get(item.session)} />
            <div className="flex gap-2">
              <Button
                size="sm"
                icon="undo"
                aria-label={t("ofItem", { action: t("restore"), path: item.path })}
                onClick={() => setAsking({ item, restore: true })}
              >
                {t("restore")}
              </Button>
              <Button
                size="sm"
                kind="danger"
                icon="trash"
                aria-label={t("ofItem", { action: t("remove"), path: item.path })}
                onClick={() => setAsking({ item, restore: false })}
              >
                {t("remove")}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {asking && <SettleDialog settling={asking} onClose={() => setAsking(null)} />}
    </>
  );
}

function About({ item, row }: { item: Item; row: Schema["ObjectiveRow"] | undefined }) {
  return (
    <div className="min-w-0 flex-1 basis-72">
      <p className="font-medium">
        <SafeText mono>{item.path}</SafeText>
      </p>
      <p className="text-ink-2 text-sm">
        <SafeText>{t("in", { folder: item.directory })}</SafeText> · <Time at={new Date(item.at_ms)} />
      </p>
      <p className="text-ink-2 text-sm">
        {t("by")}{" "}
        {row ? (
          <Link to={row.kind === "session" ? "/sessions/$id" : "/objectives/$id"} params={{ id: item.session }}>
            <SafeText>{row.title}</SafeText>
          </Link>
        ) : (
          t("unknownWork")
        )}
      </p>
      <p className="text-ink-3 text-xs">
        <SafeText>{t("kept", { path: item.kept })}</SafeText>
      </p>
    </div>
  );
}
