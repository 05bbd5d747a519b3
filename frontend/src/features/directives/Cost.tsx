/** What a session is told with a directive as it stands in the editor, in tokens. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, data } from "@/api/client";
import { t } from "@/i18n/en/directives";
import type { Written } from "./words";

const TYPING_MS = 400;

export function Cost({ draft }: { draft: Written }) {
  const asked = useRested(draft);
  const { id, kind, title, text, directory, enabled } = asked;
  const cost = useQuery({
    queryKey: ["directives", "preview", "draft", asked],
    queryFn: () =>
      data(
        api.POST("/directives/preview", {
          body: {
            attended: true,
            directory,
            draft: { id, kind, title: title || "-", text: text || "-", directory, enabled, why: "" },
          },
        }),
      ),
    placeholderData: (before) => before,
    staleTime: 0,
  });
  if (!cost.data) return null;
  const own = cost.data.parts.find((part) => part.source === "directive" && part.id === id);
  return (
    <p className="tabular text-ink-2 text-sm">
      {own ? t("costs", { total: cost.data.tokens, own: own.tokens }) : t("costsOff", { total: cost.data.tokens })}
    </p>
  );
}

/** What is written, once the person pauses. */
function useRested(draft: Written): Written {
  const [rested, setRested] = useState(draft);
  const text = JSON.stringify(draft);
  useEffect(() => {
    const timer = setTimeout(() => setRested(JSON.parse(text) as Written), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
