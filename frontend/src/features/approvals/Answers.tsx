/** The answers of a card. Letters stand on them while the card has the keys. */
import type { ReactNode } from "react";
import type { Schema } from "@/api/client";
import { keysOf } from "@/features/keys/shortcuts";
import { t } from "@/i18n/en/approvals";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/classes";
import { KeyHint } from "@/ui/KeyHint";
import { Menu, type MenuEntry } from "@/ui/Menu";
import { revealed } from "@/ui/reveal";
import { VisuallyHidden } from "@/ui/VisuallyHidden";
import type { CardKey } from "./active";
import { type Answer, isRisky } from "./answering";
import { doubtful, sourceName } from "./words";

export function Answers({
  row,
  keys,
  allowable,
  readable,
  rested,
  sending,
  onAnswer,
  onEdit,
  onDeny,
  children,
}: {
  row: Schema["ApprovalRow"];
  keys: boolean;
  allowable: boolean;
  /** All of it was shown. */
  readable: boolean;
  rested: boolean;
  sending: boolean;
  onAnswer: (answer: Answer) => void;
  onEdit: () => void;
  onDeny: () => void;
  children: ReactNode;
}) {
  const sources = doubtful(row).map(sourceName).join(", ");
  const lasting: MenuEntry[] = [
    ...(row.shape && !row.bound ? [{ label: t("project"), onSelect: () => onAnswer("project") }] : []),
    ...(sources ? [{ label: revealed(t("trust", { sources })), onSelect: () => onAnswer("trust") }] : []),
  ];
  return (
    <fieldset className="mt-3 flex flex-wrap gap-2 bg-raised max-md:sticky max-md:bottom-(--under) max-md:z-1 max-md:-mx-4 max-md:border-line max-md:border-t max-md:px-4 max-md:py-3 max-md:[&_button]:min-h-(--target) [&_button]:px-2.5 max-md:[&_button]:grow max-md:[&_button]:px-2">
      <legend className="sr-only">{t("answers")}</legend>
      <Button
        kind="primary"
        disabled={!allowable}
        onClick={() => onAnswer("once")}
        className="relative overflow-hidden max-md:order-1 max-md:flex-[1_1_40%]"
      >
        {isRisky(row.risk) && readable && <Filling done={rested} />}
        <span>
          {t("allow")}
          <VisuallyHidden> {t("onceMore")}</VisuallyHidden>
        </span>
        <Hint of="allow" shown={keys} />
      </Button>
      {row.shape && (
        <Button disabled={!allowable} onClick={() => onAnswer("session")} className="max-md:order-3">
          {t("session")}
          <Hint of="allow session" shown={keys} />
        </Button>
      )}
      {children}
      {lasting.length > 0 && (
        <Menu
          align="start"
          entries={lasting}
          trigger={
            <Button kind="quiet" disabled={!allowable} className="max-md:order-3">
              {t("lasting")}
            </Button>
          }
        />
      )}
      <span className="ms-auto flex gap-2 max-md:contents">
        <Button kind="quiet" disabled={sending || !readable} onClick={onEdit} className="max-md:order-3">
          {t("change")}
          <Hint of="edit call" shown={keys} />
        </Button>
        <Button kind="danger" disabled={sending} onClick={onDeny} className="max-md:order-2 max-md:flex-[1_1_40%]">
          {t("deny")}
          <Hint of="deny" shown={keys} />
        </Button>
      </span>
      {!readable && <p className="basis-full text-ink-2 text-sm max-md:order-first">{t("mustRead")}</p>}
    </fieldset>
  );
}

/** The key of an answer, for those who see it. */
export function Hint({ of, shown }: { of: CardKey; shown: boolean }) {
  const keys = keysOf(of);
  if (!keys) return null;
  return (
    <span aria-hidden="true" className={cx("max-md:hidden", !shown && "invisible")}>
      <KeyHint keys={keys} />
    </span>
  );
}

/** The moment that something risky rests before the eyes. */
function Filling({ done }: { done: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={cx(
        "absolute inset-0 origin-left rtl:origin-right bg-accent/20 transition-transform duration-1200 ease-linear starting:scale-x-0",
        done && "hidden",
      )}
    />
  );
}
