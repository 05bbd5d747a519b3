/** The wire to a terminal: bytes both ways, coming back by itself. Each time it does, the last of what was printed comes again. */

const FIRST_DELAY_MS = 300;
const LAST_DELAY_MS = 5000;
const ENDED = 1000;
/** A terminal that is not there any more answers like a daemon that is not: after so many tries it is asked which. */
const TRIES = 2;

export interface PtyEvents {
  /** It is there; what follows is printed from the beginning of what is kept. */
  onOpen: () => void;
  onBytes: (bytes: Uint8Array) => void;
  /** It is away, and will be tried again. */
  onAway: () => void;
  /** The shell ended; `why` as the daemon says it ("exited 0"), "" where nobody can say. */
  onEnd: (why: string) => void;
  /** Whether the daemon still has this terminal. It throws when the daemon does not answer. */
  exists: () => Promise<boolean>;
}

/** The daemon takes no longer frame; a longer paste is several. */
const FRAME_BYTES = 32_000;

/** Bytes in pieces of at most so many, in order. */
export function* pieces(bytes: Uint8Array<ArrayBuffer>, most: number): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; at += most) yield bytes.subarray(at, at + most);
}

export class Pty {
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private delayMs = FIRST_DELAY_MS;
  private failed = 0;
  private over = false;
  /** What was typed before it was ever there; nothing any more once it was. */
  private early: Uint8Array<ArrayBuffer>[] | null = [];

  constructor(
    private readonly address: string,
    private readonly events: PtyEvents,
  ) {
    this.connect();
  }

  /**
   * Type. What is typed while it opens waits for it: the cursor is there already. What is typed while it is away is
   * lost, as it is in any terminal: nobody would expect it a minute later.
   */
  send(text: string): void {
    this.sendBytes(new TextEncoder().encode(text));
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.socket?.readyState !== WebSocket.OPEN) this.early?.push(bytes);
    else for (const piece of pieces(bytes, FRAME_BYTES)) this.socket.send(piece);
  }

  close(): void {
    this.over = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private connect(): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.failed = 0;
      this.delayMs = FIRST_DELAY_MS;
      this.events.onOpen();
      const early = this.early ?? [];
      this.early = null;
      for (const bytes of early) this.sendBytes(bytes);
    };
    socket.onmessage = (message: MessageEvent<ArrayBuffer>) => this.events.onBytes(new Uint8Array(message.data));
    socket.onclose = (closed) => void this.closed(closed);
  }

  private async closed({ code, reason }: CloseEvent): Promise<void> {
    if (this.over) return;
    if (code === ENDED) {
      this.end(reason);
      return;
    }
    this.early = null;
    this.events.onAway();
    this.failed += 1;
    if (this.failed >= TRIES && !(await this.stillThere())) {
      if (!this.over) this.end("");
      return;
    }
    if (this.over) return;
    this.timer = setTimeout(() => this.connect(), this.delayMs);
    this.delayMs = Math.min(this.delayMs * 2, LAST_DELAY_MS);
  }

  /** A daemon that does not answer has not said that it is gone. */
  private async stillThere(): Promise<boolean> {
    return this.events.exists().catch(() => true);
  }

  private end(why: string): void {
    this.over = true;
    this.events.onEnd(why);
  }
}
