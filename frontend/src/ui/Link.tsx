import { createLink, type LinkComponent } from "@tanstack/react-router";
import type { ComponentProps } from "react";
import { type ButtonKind, type ButtonSize, buttonClasses } from "./Button";
import { cx } from "./classes";

interface Looks {
  /** "text" is for words in a sentence, "plain" for a row or a heading that is a link as a whole. */
  kind?: "text" | "plain" | undefined;
}

function Anchor({ kind = "text", className, ...rest }: ComponentProps<"a"> & Looks) {
  return (
    <a
      {...rest}
      className={cx(
        "rounded-sm",
        kind === "text"
          ? "text-accent underline decoration-accent-line underline-offset-2 hover:decoration-current"
          : "text-ink hover:text-accent",
        className,
      )}
    />
  );
}

function Pressable({
  kind,
  size,
  className,
  ...rest
}: ComponentProps<"a"> & { kind?: ButtonKind | undefined; size?: ButtonSize | undefined }) {
  return <a {...rest} className={cx(buttonClasses(kind, size), className)} />;
}

const Routed = createLink(Anchor);
const RoutedButton = createLink(Pressable);

/** A link to a place of this page. */
export const Link: LinkComponent<typeof Anchor> = (props) => <Routed preload="intent" {...props} />;

/** A link that looks like a button: it goes somewhere and changes nothing. */
export const ButtonLink: LinkComponent<typeof Pressable> = (props) => <RoutedButton preload="intent" {...props} />;
