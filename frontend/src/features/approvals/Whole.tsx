/** What must be read to its end before it is allowed: it scrolls inside the card, and tells when its end was in view. */
import { type ReactNode, useEffect, useRef } from "react";
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { formatBytes } from "@/ui/format";
import { SafeText } from "@/ui/SafeText";
import { ScrollBox } from "@/ui/ScrollBox";

/** @param label  what is inside, for those who cannot see it. */
export function Whole({ label, className, children }: { label: string; className?: string; children: ReactNode }) {
  return (
    <ScrollBox
      role="group"
      aria-label={label}
      className={cx("overflow-auto rounded-md border border-line md:max-h-[min(22rem,50dvh)]", className)}
    >
      {children}
    </ScrollBox>
  );
}

/** The place after the last line. In a tab that is not looked at nothing comes into view. */
export function End({ onSeen }: { onSeen: () => void }) {
  const mark = useRef<HTMLDivElement>(null);
  const tell = useRef(onSeen);
  tell.current = onSeen;
  useEffect(() => {
    if (!mark.current) return;
    const watched = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) tell.current();
    });
    watched.observe(mark.current);
    return () => watched.disconnect();
  }, []);
  return <div ref={mark} aria-hidden="true" className="h-px" />;
}

/** Where a text is cut, and the button that shows all of it. */
export function CutNote({ onOpen, children }: { onOpen: () => void; children: ReactNode }) {
  return (
    <p className="flex flex-wrap items-center gap-2 px-3 py-2 font-sans text-ink-2 text-sm">
      {children}
      <Button size="sm" onClick={onOpen}>
        {t("showAll")}
      </Button>
    </p>
  );
}

const MOST = 200_000;

/** A text of any length; of one too long to be drawn at once the rest comes at a press. */
export function LongText({
  label,
  text,
  opened,
  onOpen,
  onSeen,
}: {
  label: string;
  text: string;
  opened: boolean;
  onOpen: () => void;
  onSeen: () => void;
}) {
  const cut = text.length > MOST && !opened;
  return (
    <Whole label={label} className="bg-surface px-3 py-2 font-mono text-sm">
      <pre className="whitespace-pre-wrap break-words">
        <SafeText lines>{cut ? text.slice(0, MOST) : text}</SafeText>
      </pre>
      {cut ? (
        <CutNote onOpen={onOpen}>{t("cut", { shown: formatBytes(MOST), size: formatBytes(text.length) })}</CutNote>
      ) : (
        <End onSeen={onSeen} />
      )}
    </Whole>
  );
}
