/** What of memory a model was told: a quiet line that opens to what it was and how it was found. */
import { t } from "@/i18n/en/story";
import { Link } from "@/ui/Link";
import { brief } from "@/ui/reveal";
import { SafeText } from "@/ui/SafeText";
import type { LineBody } from "../shape";
import { wayWord } from "../ways";
import { Fold } from "./Fold";

export type RememberedBody = Extract<LineBody, { type: "memory.loaded" | "memory.recalled" }>;

export function isRemembered(body: LineBody): body is RememberedBody {
  return body.type === "memory.loaded" || body.type === "memory.recalled";
}

interface RememberedProps {
  id: string;
  body: RememberedBody;
  open: boolean;
  onToggle: (id: string) => void;
}

export function Remembered({ id, body, open, onToggle }: RememberedProps) {
  const summary =
    body.type === "memory.loaded"
      ? t("loaded", { count: body.files.length })
      : t("recalled", { count: body.told.length });
  return (
    <Fold id={id} open={open} onToggle={onToggle} summary={summary}>
      {body.type === "memory.loaded" ? (
        body.files.map((file) => (
          <section key={file.path} aria-label={file.path} className="mt-1">
            <p>
              <SafeText mono>{file.path}</SafeText>
            </p>
            <div className="ps-3">
              <SafeText lines>{file.text}</SafeText>
            </div>
          </section>
        ))
      ) : (
        <Told body={body} />
      )}
    </Fold>
  );
}

function Told({ body }: { body: Extract<RememberedBody, { type: "memory.recalled" }> }) {
  return (
    <>
      <ul>
        {body.told.map((one) => (
          <li key={one.ref} className="py-0.5">
            <SafeText>{one.text}</SafeText>{" "}
            <span className="text-ink-3">
              <SafeText>{t("recalledBy", { ways: ways(one.by) })}</SafeText>
            </span>{" "}
            {one.ref.startsWith("m_") && (
              <Link
                to="/memories"
                search={{ id: one.ref } as never}
                aria-label={t("recalledMemory", { text: brief(one.text) })}
              >
                <code>{one.ref}</code>
              </Link>
            )}
          </li>
        ))}
      </ul>
      {body.dead.length > 0 && <p className="text-ask">{t("recalledDead", { ways: ways(body.dead) })}</p>}
    </>
  );
}

/** In words, within a sentence: “found by always told” would be none. */
function ways(by: readonly string[]): string {
  return by.map((way) => (way === "pinned" ? t("pinned") : wayWord(way))).join(", ");
}
