/** What only the person may decide: forgetting by a file, a wider scope, a skill, another soul. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t as words } from "@/i18n/en/memories";
import { t } from "@/i18n/en/memory-views";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { WordDiff } from "@/ui/diff/WordDiff";
import { ErrorNote } from "@/ui/ErrorNote";
import { Link } from "@/ui/Link";
import { Panel } from "@/ui/Panel";
import { SafeText } from "@/ui/SafeText";
import { Badge } from "@/ui/State";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toasts";
import { readAgain } from "./actions";
import { Loading } from "./Loading";

type Row = Schema["ProposalRow"];

/** The waiting ones; nothing while there are none. */
export function Proposals() {
  const { data: rows, error } = useQuery({
    queryKey: ["memories", "proposals"],
    queryFn: async () =>
      (await data(api.GET("/memories/proposals", { params: { query: { status: "waiting" } } }))).items,
  });
  if (error) {
    return (
      <div className="mb-6">
        <ErrorNote title={t("proposalsFailed")} error={error} />
      </div>
    );
  }
  if (!rows || rows.length === 0) return null;
  return (
    <Panel title={t("proposals")} description={t("proposalsAbout")} className="mb-8">
      <ul className="divide-y divide-line border-line border-y">
        {rows.map((row) => (
          <li key={row.proposal.id} className="py-3">
            <Proposed row={row} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Proposed({ row: { proposal, made_ms } }: { row: Row }) {
  const settle = useCommand(({ id, accept }: { id: string; accept: boolean }, key) =>
    data(
      api.POST("/memories/proposals/{proposal}", {
        params: { path: { proposal: id }, ...withKey(key) },
        body: { accept },
      }),
    ),
  );
  const answer = (accept: boolean) =>
    settle.mutate(
      { id: proposal.id, accept },
      {
        onSuccess: ({ text }) => {
          toast({ title: t(accept ? "accepted" : "refused"), detail: text, kind: "good" });
          return readAgain();
        },
      },
    );
  return (
    <article className="grid gap-x-6 gap-y-2 md:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0">
        <h3 className="flex flex-wrap items-center gap-x-3 font-medium">
          {t(`propose_${proposal.what}`, { count: proposal.memories.length })}
          {proposal.label.integrity === "untrusted" && <Badge kind="tainted">{words("untrustedSource")}</Badge>}
          <Time at={made_ms} className="font-normal text-ink-2 text-sm" />
        </h3>
        {proposal.what === "scope" ? (
          <p className="mt-1">{t(proposal.text === "global" ? "toEverywhere" : "toTheFolder")}</p>
        ) : (
          proposal.text && (
            <div className="mt-1 max-h-60 max-w-measure overflow-y-auto border-line-strong border-s-2 ps-3">
              <SafeText lines>{proposal.text}</SafeText>
            </div>
          )
        )}
        {proposal.what === "soul" && <AgainstTheSoul text={proposal.text} />}
        {proposal.why && (
          <p className="mt-1 max-w-measure text-ink-2 text-sm">
            <SafeText>{proposal.why}</SafeText>
          </p>
        )}
        {proposal.memories.length > 0 && (
          <ul className="mt-1 grid gap-1 text-sm">
            {proposal.memories.slice(0, 20).map((id) => (
              <li key={id}>
                <About id={id} />
              </li>
            ))}
          </ul>
        )}
        <ErrorNote error={settle.error} kept={words("kept")} />
      </div>
      <div className="flex items-start gap-2">
        <Button disabled={settle.isPending} onClick={() => answer(false)}>
          {t("refuse")}
        </Button>
        <Button kind="primary" busy={settle.isPending && t("accepting")} onClick={() => answer(true)}>
          {t("accept")}
        </Button>
      </div>
    </article>
  );
}

/** What another soul would change of the one that there is; read when it is unfolded. */
function AgainstTheSoul({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const { data: rows, error } = useQuery({
    queryKey: ["memories", "soul"],
    enabled: open,
    queryFn: async () => (await data(api.GET("/directives"))).items,
  });
  const soul = rows?.find(({ directive }) => directive.kind === "soul" && !directive.directory);
  return (
    <Disclosure summary={t("soulChanges")} open={open} onOpenChange={setOpen}>
      {error ? (
        <ErrorNote title={t("soulFailed")} error={error} />
      ) : rows ? (
        <WordDiff before={soul?.directive.text ?? ""} after={text} />
      ) : (
        <Loading lines={3} />
      )}
    </Disclosure>
  );
}

/** A memory that a proposal is about, in its words. */
function About({ id }: { id: string }) {
  const { data: row } = useQuery({
    queryKey: ["memories", "one", id],
    queryFn: () => data(api.GET("/memories/{id}", { params: { path: { id } } })),
  });
  return (
    <Link to="/memories" search={((before: object) => ({ ...before, id })) as never}>
      {row ? (
        <span className="line-clamp-2 max-w-measure">
          <SafeText>{row.memory.text}</SafeText>
        </span>
      ) : (
        <code>{id}</code>
      )}
    </Link>
  );
}
