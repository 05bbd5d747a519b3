/** Comments of a review: written below their lines, kept in this browser, and sent together as one message. */
import { type KeyboardEvent, useId, useState } from "react";
import { api, data } from "@/api/client";
import { useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/review";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { ErrorNote } from "@/ui/ErrorNote";
import { IconButton } from "@/ui/IconButton";
import { KeyHint } from "@/ui/KeyHint";
import { SafeText } from "@/ui/SafeText";
import { TextArea } from "@/ui/TextArea";
import { toast } from "@/ui/Toasts";
import { type Comment, dropComments, messageOf, placeOf, useComments } from "./marks";

export function CommentForm({
  comment,
  onDone,
}: {
  comment: Comment;
  /** The text, or null when it is given up. */
  onDone: (text: string | null) => void;
}) {
  const hint = useId();
  const [text, setText] = useState(comment.text);
  const add = () => text.trim() && onDone(text.trim());
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") onDone(null);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) add();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="border-accent-line border-y bg-raised p-3 font-sans" onKeyDown={press}>
      <TextArea
        autoFocus
        rows={2}
        aria-label={t("commentFor", { place: placeOf(comment) })}
        aria-describedby={hint}
        value={text}
        onValueChange={setText}
      />
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <p id={hint} className="flex-1 text-ink-2 text-sm">
          <span className="max-md:hidden">{t("commentHint")}</span>
        </p>
        <Button size="sm" kind="quiet" onClick={() => onDone(null)}>
          {t("cancel")}
        </Button>
        <Button size="sm" kind="primary" disabled={!text.trim()} onClick={add}>
          {t(comment.text ? "save" : "add")}{" "}
          <span className="max-md:hidden">
            <KeyHint keys="Mod+Enter" />
          </span>
        </Button>
      </div>
    </div>
  );
}

export function CommentNote({
  comment,
  onEdit,
  onRemove,
}: {
  comment: Comment;
  onEdit: () => void;
  onRemove: () => void;
}) {
  return (
    <div className="flex items-start gap-2 border-accent-line border-y bg-accent-fill px-3 py-2 font-sans">
      <p className="min-w-0 flex-1 whitespace-pre-wrap text-base">
        <span className="sr-only">{t("commented", { place: placeOf(comment) })} </span>
        {comment.text}
      </p>
      <IconButton size="sm" icon="edit" label={t("edit")} onClick={onEdit} />
      <IconButton size="sm" icon="trash" label={t("remove")} danger onClick={onRemove} />
    </div>
  );
}

/** Sends what was said, as one message; what the model will read can be looked at first. */
export function useSending(session: string) {
  const comments = useComments(session);
  const command = useCommand((text: string, key) =>
    data(
      api.POST("/sessions/{session}/messages", {
        params: { path: { session }, ...withKey(key) },
        body: { text, interrupt: false, attachments: [], context: [], to_model: true },
      }),
    ),
  );
  const send = () => {
    if (comments.length === 0 || command.isPending) return;
    command.mutate(messageOf(comments), {
      onSuccess: () => {
        dropComments(session, comments);
        toast({ title: t("sent"), kind: "good" });
      },
    });
  };
  return { comments, send, sending: command.isPending, error: command.error };
}

export function ReviewBar({ comments, send, sending, error }: ReturnType<typeof useSending>) {
  if (comments.length === 0) return null;
  const count = comments.length;
  return (
    <section
      aria-label={t("comments", { count })}
      className="sticky bottom-0 z-(--layer-stuck) mt-auto flex flex-col gap-1 border-line border-t bg-raised px-3 py-2"
    >
      {error && <ErrorNote title={t("sendFailed")} error={error} />}
      <div className="flex items-start gap-3">
        <Disclosure className="flex-1" summary={t("message")}>
          <pre className="max-h-[40dvh] overflow-auto font-mono text-xs">
            <SafeText lines>{messageOf(comments)}</SafeText>
          </pre>
        </Disclosure>
        <Button kind="primary" icon="send" busy={sending && t("sending")} onClick={send}>
          {t("send", { count })}
        </Button>
      </div>
    </section>
  );
}
