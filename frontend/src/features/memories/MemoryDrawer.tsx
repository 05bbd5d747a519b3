/** One memory beside the list: what is known about it, the words it rests on, and what was held before and after. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, Refused } from "@/api/client";
import { t } from "@/i18n/en/memories";
import { Button } from "@/ui/Button";
import { Drawer } from "@/ui/Drawer";
import { Empty } from "@/ui/Empty";
import { ErrorNote } from "@/ui/ErrorNote";
import { SafeText } from "@/ui/SafeText";
import { useActions } from "./actions";
import { EditDialog } from "./EditDialog";
import { Evidence } from "./Evidence";
import { Facts } from "./Facts";
import { ForgetDialog, gone as forgotten } from "./ForgetDialog";
import { Loading } from "./Loading";
import { Marks } from "./MemoryLine";
import { useOpen } from "./MemoryList";
import { Versions } from "./Versions";
import type { Row } from "./words";

export function MemoryDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const [forgetting, setForgetting] = useState(false);
  const { data: row, error } = useQuery({
    queryKey: ["memories", "one", id],
    // It is not asked for while it goes.
    enabled: !forgetting,
    queryFn: () => data(api.GET("/memories/{id}", { params: { path: { id } } })),
  });
  const gone = error instanceof Refused && error.status === 404;
  if (forgetting) {
    return <ForgetDialog wanted={forgotten([id])} onClose={() => setForgetting(false)} onForgotten={onClose} />;
  }
  return (
    <Drawer
      open
      onOpenChange={(open) => !open && onClose()}
      title={t(gone ? "noSuch" : "memory")}
      description={<code>{id}</code>}
      footer={row && !gone && <Deeds row={row} onForget={() => setForgetting(true)} />}
    >
      {gone ? (
        <Empty title={t("noSuchWhy")} />
      ) : row ? (
        <Shown row={row} />
      ) : error ? (
        <ErrorNote title={t("readFailed")} error={error} kept={t("kept")} />
      ) : (
        <Loading lines={8} />
      )}
    </Drawer>
  );
}

function Shown({ row }: { row: Row }) {
  const { memory } = row;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-7">
      <div>
        <p className="max-w-measure text-lg">
          <SafeText lines>{memory.text}</SafeText>
        </p>
        <div className="mt-2 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
          <Marks memory={memory} row={row} />
        </div>
      </div>
      <Evidence memory={memory} />
      <Facts row={row} />
      <Versions row={row} />
    </div>
  );
}

function Deeds({ row, onForget }: { row: Row; onForget: () => void }) {
  const { pin, takeBack, haveBack, busy } = useActions();
  const [editing, setEditing] = useState(false);
  const open = useOpen();
  const { memory } = row;
  const ids = [memory.id];
  return (
    <>
      <Button kind="danger" icon="trash" onClick={onForget} className="me-auto">
        {t("forget")}
      </Button>
      {row.status === "live" ? (
        <>
          <Button disabled={busy} onClick={() => takeBack(ids)}>
            {t("archive")}
          </Button>
          <Button icon="pin" disabled={busy} onClick={() => pin(ids, !memory.pinned)}>
            {t(memory.pinned ? "unpin" : "pin")}
          </Button>
          <Button kind="primary" icon="edit" onClick={() => setEditing(true)}>
            {t("edit")}
          </Button>
        </>
      ) : (
        <Button disabled={busy} onClick={() => haveBack(ids)}>
          {t("restore")}
        </Button>
      )}
      {editing && (
        <EditDialog
          memory={memory}
          onClose={(id) => {
            setEditing(false);
            if (id && id !== memory.id) open(id);
          }}
        />
      )}
    </>
  );
}
