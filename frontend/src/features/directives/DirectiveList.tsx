/** The directives in their order: switched with one press, moved by hand or with two buttons, removed and had back. */
import { type DragEvent, useEffect, useRef, useState } from "react";
import { t } from "@/i18n/en/directives";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { ErrorNote } from "@/ui/ErrorNote";
import { Icon } from "@/ui/Icon";
import { IconButton } from "@/ui/IconButton";
import { SafeText } from "@/ui/SafeText";
import { Switch } from "@/ui/Switch";
import { Time } from "@/ui/Time";
import { toast, toastError } from "@/ui/Toasts";
import { VisuallyHidden } from "@/ui/VisuallyHidden";
import { again, useOrder, useRemove, useRestore, useSwitch } from "./commands";
import { type Directive, movedBy, movedTo, type Row } from "./words";

export function DirectiveList({
  rows,
  onEdit,
  onVersions,
}: {
  rows: readonly Row[];
  onEdit: (directive: Directive) => void;
  onVersions: (directive: Directive) => void;
}) {
  const order = useOrder();
  const [said, say] = useState("");
  const [dragged, drag] = useState("");
  const [over, setOver] = useState(-1);
  const moving = useRef<{ ids: string[]; from: HTMLElement } | null>(null);
  // Where a row moves in the page, the browser takes the focus from what is in it.
  useEffect(() => {
    const there = moving.current?.ids.every((id, place) => rows[place]?.directive.id === id);
    if (!there) return;
    moving.current?.from.focus();
    moving.current = null;
  });

  function move(row: Row, ids: string[] | null, from: HTMLElement | null) {
    if (!ids) return;
    order.mutate(ids, {
      onSuccess: async () => {
        moving.current = from && { ids, from };
        await again();
        const place = ids.indexOf(row.directive.id) + 1;
        say(t("moved", { title: row.directive.title, place, count: ids.length }));
      },
    });
  }

  function drop(event: DragEvent, place: number) {
    event.preventDefault();
    const row = rows.find(({ directive }) => directive.id === dragged);
    if (row) move(row, movedTo(rows, dragged, place), null);
    drag("");
    setOver(-1);
  }

  return (
    <>
      <ErrorNote title={t("orderFailed")} error={order.error} />
      <ol aria-label={t("list")} className="border-line border-t">
        {rows.map((row, place) => {
          const { id, title } = row.directive;
          return (
            <li
              key={id}
              draggable
              onDragStart={(event) => {
                event.dataTransfer.effectAllowed = "move";
                drag(id);
              }}
              onDragOver={(event) => {
                if (!movedTo(rows, dragged, place)) return;
                event.preventDefault();
                setOver(place);
              }}
              onDrop={(event) => drop(event, place)}
              onDragEnd={() => {
                drag("");
                setOver(-1);
              }}
              className={cx(
                "border-line border-b",
                dragged === id && "opacity-60",
                over === place && dragged !== id && "bg-accent-fill",
              )}
            >
              <Line
                row={row}
                onEdit={onEdit}
                onVersions={onVersions}
                moves={
                  <>
                    <IconButton
                      icon="chevron-up"
                      size="sm"
                      label={t("up", { title })}
                      disabled={!movedBy(rows, id, -1)}
                      focusableWhenDisabled
                      onClick={(event) => move(row, movedBy(rows, id, -1), event.currentTarget)}
                    />
                    <IconButton
                      icon="chevron-down"
                      size="sm"
                      label={t("down", { title })}
                      disabled={!movedBy(rows, id, 1)}
                      focusableWhenDisabled
                      onClick={(event) => move(row, movedBy(rows, id, 1), event.currentTarget)}
                    />
                  </>
                }
              />
            </li>
          );
        })}
      </ol>
      <div role="status">
        <VisuallyHidden>{said}</VisuallyHidden>
      </div>
    </>
  );
}

function Line({
  row: { directive, changed_ms, tokens },
  moves,
  onEdit,
  onVersions,
}: {
  row: Row;
  moves: React.ReactNode;
  onEdit: (directive: Directive) => void;
  onVersions: (directive: Directive) => void;
}) {
  const { id, title, enabled, version } = directive;
  const turn = useSwitch();
  const remove = useRemove();
  const restore = useRestore();

  function takeAway() {
    remove.mutate(id, {
      onSuccess: async () => {
        await again();
        toast({ title: t("removed", { title }), action: { label: t("undo"), onClick: haveBack } });
      },
    });
  }

  function haveBack() {
    restore.mutate(
      { id, version },
      {
        onSuccess: async () => {
          await again();
          toast({ title: t("undone", { title }), kind: "good" });
        },
        onError: (error) => toastError(t("undoFailed"), error),
      },
    );
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-2 py-2.5 md:grid-cols-[auto_minmax(0,1fr)_auto] md:items-center md:gap-4">
      <div className="flex items-start gap-1 max-md:order-1 md:items-center">
        <span aria-hidden="true" className="cursor-grab text-ink-3 max-md:hidden">
          <Icon name="menu" />
        </span>
        {moves}
      </div>
      <div className="min-w-0">
        <h2 className="font-medium">
          <SafeText>{title}</SafeText>
        </h2>
        <p className="flex flex-wrap gap-x-3 text-ink-2 text-sm">
          <span>{t(directive.kind)}</span>
          {directive.directory ? <SafeText mono>{directive.directory}</SafeText> : <span>{t("everywhere")}</span>}
          <span className="tabular">{t("tokens", { count: tokens })}</span>
          <span>{t("version", { version })}</span>
          <span>
            {t("changed")} <Time at={changed_ms} />
          </span>
        </p>
        <ErrorNote title={t("switchFailed")} error={turn.error} />
        <ErrorNote title={t("removeFailed")} error={remove.error} />
      </div>
      <div className="flex flex-wrap items-center gap-2 max-md:order-2 max-md:col-span-2">
        <Button size="sm" icon="edit" aria-label={t("openNamed", { title })} onClick={() => onEdit(directive)}>
          {t("edit")}
        </Button>
        <Button size="sm" icon="clock" aria-label={t("versionsNamed", { title })} onClick={() => onVersions(directive)}>
          {t("versions")}
        </Button>
        <IconButton icon="trash" danger label={t("removeNamed", { title })} onClick={takeAway} />
        <Switch
          checked={enabled}
          disabled={turn.isPending}
          onCheckedChange={(on) => turn.mutate({ id, enabled: on }, { onSuccess: again })}
          label={
            <>
              <span aria-hidden="true">{t(enabled ? "on" : "off")}</span>
              <VisuallyHidden>{t("tell", { title })}</VisuallyHidden>
            </>
          }
        />
      </div>
    </div>
  );
}
