/** All that was held in a memory's place, oldest first, each with what changed. */
import { useQuery } from "@tanstack/react-query";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/memories";
import { WordDiff } from "@/ui/diff/WordDiff";
import { ErrorNote } from "@/ui/ErrorNote";
import { Link } from "@/ui/Link";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { State } from "@/ui/State";
import { Holds } from "./Facts";
import { type Row, STATUS_KINDS } from "./words";

export function Versions({ row }: { row: Row }) {
  const { id, supersedes } = row.memory;
  const several = supersedes.length > 0 || row.superseded_by !== "";
  const { data: chain, error } = useQuery({
    queryKey: ["memories", "versions", id],
    enabled: several,
    queryFn: async () => (await data(api.GET("/memories/{id}/versions", { params: { path: { id } } }))).items,
  });
  if (!several) return null;
  return (
    <Panel title={t("versions")}>
      {error && <ErrorNote title={t("versionsFailed")} error={error} />}
      <ol className="grid gap-4">
        {chain?.map((one, at) => (
          <li key={one.memory.id} className="border-line border-s-2 ps-3">
            <p className="flex flex-wrap items-center gap-x-3 text-ink-2 text-sm">
              <State kind={STATUS_KINDS[one.status]}>{t(one.status)}</State>
              <span>
                <Holds row={one} />
              </span>
              {one.memory.id === id ? (
                <span className="font-medium text-ink">{t("versionNow")}</span>
              ) : (
                <Link to="/memories" search={((before: object) => ({ ...before, id: one.memory.id })) as never}>
                  <code>{one.memory.id}</code>
                </Link>
              )}
            </p>
            <Words chain={chain} at={at} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** The words, against those that they took the place of. */
function Words({ chain, at }: { chain: readonly Row[]; at: number }) {
  const one = chain[at];
  const before = one && chain.find((other) => one.memory.supersedes.includes(other.memory.id));
  if (!one) return null;
  return before ? (
    <WordDiff before={before.memory.text} after={one.memory.text} />
  ) : (
    <p className="max-w-measure">
      <SafeText lines>{one.memory.text}</SafeText>
    </p>
  );
}
