import { type ClipboardEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { api, data } from "@/api/client";
import { socketOrigin } from "@/api/live";
import { t } from "@/i18n/en/terminal";
import { ErrorNote } from "@/ui/ErrorNote";
import { formatBytes } from "@/ui/format";
import { PasteDialog } from "./PasteDialog";
import { asksFirst, cleaned, type Paste } from "./paste";
import { Pty } from "./pty";
import { openScreen, type Screen, type Size } from "./screen";
import { Valve } from "./valve";

const RESIZE_PAUSE_MS = 120;

/** One of the person's terminals, live. It comes back by itself with the last of what it showed. */
export function TerminalScreen({
  session,
  terminal,
  readAloud,
  onEnd,
}: {
  session: string;
  terminal: string;
  readAloud: boolean;
  /** The shell ended; see `Pty`. What it showed stays. */
  onEnd: (why: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen | null>(null);
  const [away, setAway] = useState(false);
  const [failed, setFailed] = useState<Error | null>(null);
  const [asked, setAsked] = useState<Paste | null>(null);
  const ended = useEffectEvent(onEnd);
  useEffect(() => {
    const parent = box.current;
    if (!parent) return;
    let over = false;
    let end: (() => void) | undefined;
    openScreen(parent, t("label"), readAloud).then(
      (opened) => {
        if (over) {
          opened.close();
          return;
        }
        screen.current = opened;
        // The button that opened it is gone, and what is typed next is meant for it.
        if (document.activeElement === document.body) opened.terminal.focus();
        end = join(opened, parent, session, terminal, { setAway, onEnd: ended, onError: setFailed });
      },
      (error: unknown) => setFailed(error instanceof Error ? error : new Error(String(error))),
    );
    return () => {
      over = true;
      end?.();
      screen.current?.close();
      screen.current = null;
    };
  }, [session, terminal, readAloud]);
  const paste = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const wanted = cleaned(event.clipboardData.getData("text/plain"));
    if (asksFirst(wanted)) setAsked(wanted);
    else screen.current?.terminal.paste(wanted.text);
  };
  const answered = (sure: boolean) => {
    if (sure && asked) screen.current?.terminal.paste(asked.text);
    setAsked(null);
    screen.current?.terminal.focus();
  };
  return (
    <div className="relative min-h-0 flex-1">
      {failed && <ErrorNote title={t("failed")} error={failed} />}
      <div
        ref={box}
        onPasteCapture={paste}
        className="absolute inset-0 overflow-hidden py-2 ps-3 [font-variant-ligatures:none]"
      />
      {away && (
        <p
          role="status"
          className="absolute inset-x-0 top-0 border-b border-ask-line bg-ask-fill px-3 py-1.5 text-sm text-ask"
        >
          {t("away")}
        </p>
      )}
      {asked && <PasteDialog paste={asked} onAnswer={answered} />}
    </div>
  );
}

interface Told {
  setAway: (away: boolean) => void;
  onEnd: (why: string) => void;
  onError: (error: Error) => void;
}

/** Join a screen with its wire; gives what takes them apart. */
function join(screen: Screen, parent: HTMLElement, session: string, id: string, told: Told): () => void {
  const { terminal } = screen;
  const valve = new Valve(
    (bytes, drawn) => terminal.write(bytes, drawn),
    (bytes) => terminal.write(`\u001bc${t("skipped", { size: formatBytes(bytes) })}\r\n`),
  );
  const path = { session, terminal: id };
  const pty = new Pty(`${socketOrigin()}/api/v1/sessions/${session}/terminals/${id}`, {
    onOpen: () => {
      terminal.reset();
      told.setAway(false);
    },
    onBytes: (bytes) => valve.take(bytes),
    onAway: () => told.setAway(true),
    onEnd: (why) => {
      told.setAway(false);
      terminal.options.disableStdin = true;
      told.onEnd(why);
    },
    exists: async () => {
      const open = await data(api.GET("/sessions/{session}/terminals", { params: { path: { session } } }));
      return open.items.some((row) => row.id === id);
    },
  });
  const typed = terminal.onData((text) => pty.send(text));
  const typedBytes = terminal.onBinary((text) =>
    pty.sendBytes(Uint8Array.from(text, (character) => character.charCodeAt(0))),
  );
  const tell = (size: Size) =>
    data(
      api.POST("/sessions/{session}/terminals/{terminal}/resize", {
        params: { path },
        body: size,
      }),
    );
  const endFit = onSize(parent, screen, (size) => {
    // One that has ended needs no size.
    if (terminal.options.disableStdin) return;
    tell(size).catch((error: unknown) => {
      if (!terminal.options.disableStdin && error instanceof Error) told.onError(error);
    });
  });
  return () => {
    endFit();
    typed.dispose();
    typedBytes.dispose();
    pty.close();
  };
}

/** Fit the screen to its place at once, and tell its size a moment after it has changed. */
function onSize(parent: HTMLElement, screen: Screen, changed: (size: Size) => void): () => void {
  let told = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new ResizeObserver(() => {
    const size = screen.fit();
    if (!size || told === `${size.rows} ${size.columns}`) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      told = `${size.rows} ${size.columns}`;
      changed(size);
    }, RESIZE_PAUSE_MS);
  });
  observer.observe(parent);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
