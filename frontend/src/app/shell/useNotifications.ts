/** Telling a person what happened that they may want to know: a toast here, and outside the browser if they asked for it. */

import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { api, data, Refused, type Schema } from "@/api/client";
import { type Envelope, isEvent, subscribe, useConnection } from "@/api/live";
import { sentence } from "@/features/approvals/words";
import { keep, tellOutside } from "@/features/notifications/notices";
import { t } from "@/i18n/en/notices";
import { END_KINDS } from "@/story/view/words";
import { revealed } from "@/ui/reveal";
import { toast, untoast } from "@/ui/Toasts";
import { useOverlays } from "./overlays";

interface Hands {
  go: (path: string) => void;
  ask: (approval: string) => void;
}

export function useNotifications(): void {
  const navigate = useNavigate();
  const { show } = useOverlays();
  useEffect(() => {
    const hands: Hands = {
      go: (path) => void navigate({ to: path }),
      ask: (approval) => show("question", approval),
    };
    return subscribe((items) => {
      // What happened while nobody was connected is on the dashboard; a burst of old news would bury what is new.
      if (useConnection.getState().state === "catching up") return;
      for (const item of items) if (isEvent(item)) void tell(item, hands).catch(away);
    });
  }, [navigate, show]);
}

/** A daemon that does not answer is what the connection says already; what waits stands in the lists when it is back. */
function away(error: unknown): void {
  if (!(error instanceof Refused)) throw error;
}

async function tell({ body, stream, ts }: Envelope, hands: Hands): Promise<void> {
  if (body.type === "approval.given" || body.type === "approval.denied" || body.type === "approval.lapsed") {
    untoast(body.id);
  } else if (body.type === "approval.requested") {
    const row = await data(api.GET("/approvals/{approval}", { params: { path: { approval: body.id } } }));
    const path = `/approvals/${row.id}`;
    keep({ kind: "ask", title: sentence(row), detail: row.title, path, at: ts });
    tellOutside(row.id, t("waits"), revealed(row.title), () => hands.go(path));
    if (isShown(row) || row.status !== "pending") return;
    const action = { label: t("answer"), onClick: () => hands.ask(row.id) };
    toast({ key: row.id, title: sentence(row), detail: row.title, kind: "ask", action });
  } else if (body.type === "objective.ended") {
    const row = await data(api.GET("/objectives/{session}", { params: { path: { session: stream } } }));
    const path = `/objectives/${row.id}`;
    const kind = END_KINDS[body.status];
    const title = t(body.status, { title: row.title });
    keep({ kind, title, detail: body.summary || body.reason, path, at: ts });
    tellOutside(`${row.id} ended`, revealed(title), "", () => hands.go(path));
    if (location.pathname === path) return;
    toast({ title, kind, action: { label: t("look"), onClick: () => hands.go(path) } });
  } else if (body.type === "review.wanted" && body.review.waiting !== 0) {
    const row = await data(api.GET("/objectives/{session}", { params: { path: { session: stream } } }));
    const path = `/${row.kind}s/${row.id}`;
    const title = t("review", { title: row.title });
    const detail = body.review.held.map((one) => one.path).join(", ");
    keep({ kind: "ask", title, detail, path, at: ts });
    tellOutside(`${row.id} review`, revealed(title), "", () => hands.go(path));
    if (["/", "/approvals", path].includes(location.pathname)) return;
    toast({ title, kind: "ask", action: { label: t("look"), onClick: () => hands.go(path) } });
  }
}

/** Whether the page that is open shows the question anyway. */
function isShown(row: Schema["ApprovalRow"]): boolean {
  const pages = ["/", "/approvals", "/setup", `/approvals/${row.id}`];
  return [...pages, `/sessions/${row.session}`, `/objectives/${row.session}`].includes(location.pathname);
}
