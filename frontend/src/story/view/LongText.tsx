import { useState } from "react";
import { t } from "@/i18n/en/story";
import { Button } from "@/ui/Button";
import { formatBytes } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";

const SHOWN = 6000;

/** Someone else's text, of any length, in a box that scrolls. A long one is drawn whole only when that is wanted. */
export function LongText({ text, label, end = false }: { text: string; label: string; end?: boolean }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > SHOWN;
  const shown = cut ? (end ? text.slice(-SHOWN) : text.slice(0, SHOWN)) : text;
  return (
    <div className="rounded-md border border-line bg-surface">
      <ScrollBox
        role="group"
        aria-label={label}
        className="max-h-80 overflow-auto px-3 py-2 font-mono text-xs leading-5"
      >
        <SafeText lines>{shown}</SafeText>
      </ScrollBox>
      {cut && (
        <div className="border-line border-t px-2 py-1">
          <Button kind="quiet" size="sm" onClick={() => setWhole(true)}>
            {t("showAll", { size: formatBytes(new Blob([text]).size) })}
          </Button>
        </div>
      )}
    </div>
  );
}
