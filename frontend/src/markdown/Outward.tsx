import type { ReactNode } from "react";
import { t } from "@/i18n/en/markdown";
import { SafeText } from "@/ui/SafeText";

/** A link out of the page, which says where it really leads. An address that is none of the web's stays words. */
export function Outward({
  href,
  picture = false,
  children,
}: {
  href?: string | undefined;
  /** It was an image; nothing is fetched for it. */
  picture?: boolean;
  children?: ReactNode;
}) {
  const place = placeOf(href);
  if (!place)
    return (
      <span>
        {picture && `${t("picture")} `}
        {children}
        {href && !href.startsWith("#") && (
          <span className="text-ink-3">
            {" "}
            (<SafeText>{href}</SafeText>)
          </span>
        )}
      </span>
    );
  return (
    <a href={place.href} target="_blank" rel="noreferrer noopener" title={place.href}>
      {picture && `${t("picture")} `}
      {children}
      {!says(children, place) && <span className="ms-1 text-ink-3 text-sm">({place.host})</span>}
    </a>
  );
}

/** Whether its words are the address itself, so that the host stands there already, letter by letter. */
function says(children: ReactNode, { href, host }: { href: string; host: string }): boolean {
  if (typeof children !== "string") return false;
  const said = children.replace(/^https?:\/\//, "");
  return said === host || (said.startsWith(`${host}/`) && URL.canParse(children) && new URL(children).href === href);
}

/** Where an address leads: an absolute one of the web, or of a mailbox. A host in other scripts is written in ASCII. */
function placeOf(href: string | undefined): { href: string; host: string } | null {
  if (!href || !URL.canParse(href)) return null;
  const url = new URL(href);
  if (url.protocol === "mailto:") return { href: url.href, host: url.pathname };
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  return { href: url.href, host: url.host };
}
