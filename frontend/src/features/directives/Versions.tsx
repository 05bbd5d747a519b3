/** What a directive was before: each version with what it changed, any two compared, an older one written anew. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { t } from "@/i18n/en/directives";
import { Button } from "@/ui/Button";
import { Dialog, DialogClose } from "@/ui/Dialog";
import { Disclosure } from "@/ui/Disclosure";
import { UnifiedDiff } from "@/ui/diff/DiffLines";
import { ErrorNote } from "@/ui/ErrorNote";
import { Field } from "@/ui/Field";
import { SafeText } from "@/ui/SafeText";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import { again, useRestore } from "./commands";
import type { Directive } from "./words";

type Version = Schema["DirectiveVersion"];

export function Versions({ of: { id, title }, onClose }: { of: Directive; onClose: () => void }) {
  const found = useInfiniteQuery({
    queryKey: ["directives", id, "versions"],
    queryFn: ({ pageParam }) =>
      data(api.GET("/directives/{id}/versions", { params: { path: { id }, query: { after: pageParam } } })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next || null,
  });
  const versions = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="lg"
      title={<SafeText>{t("versionsNamed", { title })}</SafeText>}
      description={t("versionsAbout")}
      footer={<DialogClose render={<Button>{t("close")}</Button>} />}
    >
      <ErrorNote error={found.error} />
      {found.isPending && <Skeleton lines={6} />}
      {versions.length > 1 && <Compare id={id} path={title} versions={versions} />}
      <ol className="grid gap-1">
        {versions.map((version, place) => (
          <li key={version.directive.version} className="border-line border-t pt-2">
            <Entry id={id} path={title} version={version} newest={place === 0} />
          </li>
        ))}
      </ol>
      {found.hasNextPage && (
        <Button onClick={() => void found.fetchNextPage()} disabled={found.isFetchingNextPage}>
          {t("older")}
        </Button>
      )}
    </Dialog>
  );
}

function Entry({ id, path, version, newest }: { id: string; path: string; version: Version; newest: boolean }) {
  const restore = useRestore();
  const { version: number, enabled } = version.directive;
  const { added, removed } = version;
  return (
    <div className="grid gap-2 pb-2">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <p>
          <span className="font-medium">{t("versionNo", { version: number })}</span>{" "}
          <span className="text-ink-2 text-sm">
            {newest && <>({t("now")}) </>}
            <Time at={version.ts_ms} /> · {t("by", { door: version.door })} · {t(enabled ? "wasOn" : "wasOff")}
          </span>
        </p>
        {!newest && (
          <Button
            size="sm"
            icon="undo"
            aria-label={t("restoreNamed", { version: number })}
            busy={restore.isPending && `${t("restoring")}…`}
            onClick={() =>
              restore.mutate(
                { id, version: number },
                {
                  onSuccess: async () => {
                    await again();
                    toast({ title: t("restored", { version: number }), kind: "good" });
                  },
                },
              )
            }
          >
            {t("restore")}
          </Button>
        )}
      </div>
      {version.why && (
        <p className="text-sm">
          <SafeText>{version.why}</SafeText>
        </p>
      )}
      {version.diff ? (
        <Disclosure summary={t("lines", { added, removed })} defaultOpen={newest}>
          <UnifiedDiff
            diff={version.diff}
            path={t("diffOf", { title: path, old: number - 1, version: number })}
            layout="unified"
          />
        </Disclosure>
      ) : (
        <p className="text-ink-2 text-sm">{t("sameText")}</p>
      )}
      <ErrorNote title={t("restoreFailed")} error={restore.error} />
    </div>
  );
}

function Compare({ id, path, versions }: { id: string; path: string; versions: readonly Version[] }) {
  const choices = versions.map(({ directive: { version } }) => ({
    value: String(version),
    label: t("versionNo", { version }),
  }));
  const [chosen, choose] = useState({ old: choices.at(-1)?.value ?? "", new: choices[0]?.value ?? "" });
  const [open, setOpen] = useState(false);
  const found = useQuery({
    queryKey: ["directives", id, "diff", chosen],
    queryFn: () =>
      data(
        api.GET("/directives/{id}/diff", {
          params: { path: { id }, query: { old: Number(chosen.old), new: Number(chosen.new) } },
        }),
      ),
    enabled: open,
  });
  return (
    <Disclosure summary={t("compare")} open={open} onOpenChange={setOpen} className="mb-2">
      <div className="grid gap-3 pb-2">
        <div className="grid grid-cols-2 gap-3 md:max-w-100">
          <Field label={t("from")}>
            <Select items={choices} value={chosen.old} onValueChange={(old) => choose({ ...chosen, old })} />
          </Field>
          <Field label={t("compareNew")}>
            <Select items={choices} value={chosen.new} onValueChange={(value) => choose({ ...chosen, new: value })} />
          </Field>
        </div>
        <ErrorNote error={found.error} />
        {found.data?.diff && (
          <UnifiedDiff
            diff={found.data.diff}
            path={`${t("compare")}: ${t("diffOf", { title: path, old: chosen.old, version: chosen.new })}`}
          />
        )}
        {found.data && !found.data.diff && <p className="text-ink-2 text-sm">{t("sameText")}</p>}
      </div>
    </Disclosure>
  );
}
