import { useEffect, useState } from "react";
import { t } from "@/i18n/en/ui";
import { Button } from "./Button";
import { IconButton } from "./IconButton";
import { toastError } from "./Toasts";

const SAID_MS = 2000;

/** Puts a text on the clipboard, and says that it did. */
export function CopyButton({
  text,
  label,
  words = false,
  className,
}: {
  text: string;
  /** What is copied: "Copy the digest". */
  label?: string | undefined;
  /** A button with words instead of the icon alone. */
  words?: boolean | undefined;
  className?: string | undefined;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      (error: unknown) => toastError(t("copyFailed"), error),
    );
  const icon = copied ? "check" : "copy";
  const said = copied ? t("copied") : (label ?? t("copy"));
  return (
    <>
      {words ? (
        <Button icon={icon} onClick={copy} className={className}>
          {said}
        </Button>
      ) : (
        <IconButton icon={icon} label={said} size="sm" onClick={copy} className={className} />
      )}
      <span role="status" className="sr-only">
        {copied ? t("copied") : ""}
      </span>
    </>
  );
}
