/** What is done to memories, one or many, with the way back. */
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import { t } from "@/i18n/en/memories";
import { toast, toastError } from "@/ui/Toasts";

type Marks = Schema["WantedMarks"];

/** As many as one command may name. */
const AT_ONCE = 1_000;
const NO_MARKS: Omit<Marks, "ids"> = {
  aliases: null,
  confidence: null,
  key: null,
  kind: null,
  pinned: null,
  standing: null,
  ttl_days: null,
};

export function readAgain(): Promise<void> {
  return queries.invalidateQueries({ queryKey: ["memories"] });
}

export type Ids = readonly string[];

/** Pin, unpin, take back, have back: each is said when it is done, with its undoing. */
export function useActions() {
  const mark = useMark();
  const retire = useCommand((ids: Ids, key) => each(ids, key, retireSome));
  const restore = useCommand((ids: Ids, key) => each(ids, key, restoreSome));
  const failed = (error: Error) => toastError(t("broken"), error);

  function pin(ids: Ids, pinned: boolean): void {
    const action = { label: t("undo"), onClick: () => pin(ids, !pinned) };
    mark.mutate(
      { ids: [...ids], pinned },
      {
        onSuccess: () => {
          toast({ title: t(pinned ? "didPin" : "didUnpin", { count: ids.length }), kind: "good", action });
          return readAgain();
        },
        onError: failed,
      },
    );
  }

  function takeBack(ids: Ids): void {
    retire.mutate(ids, {
      onSuccess: () => {
        const action = { label: t("undo"), onClick: () => haveBack(ids) };
        toast({ title: t("didRetire", { count: ids.length }), detail: t("didRetireMore"), kind: "good", action });
        return readAgain();
      },
      onError: failed,
    });
  }

  function haveBack(ids: Ids): void {
    restore.mutate(ids, {
      onSuccess: () => {
        toast({ title: t("didRestore", { count: ids.length }), kind: "good" });
        return readAgain();
      },
      onError: failed,
    });
  }

  return { pin, takeBack, haveBack, busy: mark.isPending || retire.isPending || restore.isPending };
}

/** Change some marks; those that are not named stay. */
export function useMark() {
  return useCommand((marks: Partial<Marks> & { ids: string[] }, key) =>
    each(marks.ids, key, (ids, part) =>
      data(api.POST("/memories/mark", { params: withKey(part), body: { ...NO_MARKS, ...marks, ids } })),
    ),
  );
}

const retireSome = (ids: string[], key: string) =>
  data(api.POST("/memories/retire", { params: withKey(key), body: { ids } }));

const restoreSome = (ids: string[], key: string) =>
  data(api.POST("/memories/restore", { params: withKey(key), body: { ids } }));

/** One command after another, each with as many as it may name and a key that follows from that of them all. */
async function each(ids: Ids, key: string, act: (ids: string[], key: string) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    await act(ids.slice(at, at + AT_ONCE), at === 0 ? key : `${key}-${at}`);
  }
}
