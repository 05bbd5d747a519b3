/** What is being written, kept in this tab until it is saved: closing the editor by mistake loses nothing. */
import { useEffect, useState } from "react";
import type { Written } from "./words";

const STORED_AS = "stead.directive.";

/** The draft of a directive: what was written before, or what there is. `forget` once it is saved. */
export function useDraft(from: Written) {
  const place = STORED_AS + (from.id || "new");
  const [kept] = useState(() => stored(place, from));
  const [draft, setDraft] = useState(kept ?? from);
  const [forgotten, setForgotten] = useState(false);
  const same = JSON.stringify(draft) === JSON.stringify(from);
  useEffect(() => {
    if (same || forgotten) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, JSON.stringify(draft));
  }, [draft, same, forgotten, place]);
  return { draft, setDraft, same, restored: kept !== null && !same, forget: () => setForgotten(true) };
}

/** A template begins anew; a directive that was changed elsewhere meanwhile keeps the draft and its older version. */
function stored(place: string, from: Written): Written | null {
  const text = sessionStorage.getItem(place);
  if (!text || (!from.id && from.text)) return null;
  return { ...from, ...(JSON.parse(text) as Partial<Written>) };
}
