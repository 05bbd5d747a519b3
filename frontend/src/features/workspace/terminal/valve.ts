/**
 * Between a program that prints without end and a screen that draws: so much may wait to be drawn, of the rest only the
 * newest part is kept. Nobody reads a hundred megabytes a second, and a page that tries to draw them stands still.
 */

export const WAITING = 2_000_000;
export const NEWEST = 200_000;

export class Valve {
  private waiting = 0;
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  private skipped = 0;

  /**
   * @param draw    draws bytes, and says when they are drawn.
   * @param onSkipped draws that so many bytes were left out before what follows.
   */
  constructor(
    private readonly draw: (bytes: Uint8Array, drawn: () => void) => void,
    private readonly onSkipped: (bytes: number) => void,
  ) {}

  take(bytes: Uint8Array): void {
    if (this.waiting < WAITING && this.held.length === 0) {
      this.pass(bytes);
      return;
    }
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    while (this.heldBytes > NEWEST) {
      const oldest = this.held.shift();
      if (!oldest) break;
      this.heldBytes -= oldest.length;
      this.skipped += oldest.length;
    }
  }

  private pass(bytes: Uint8Array): void {
    this.waiting += bytes.length;
    this.draw(bytes, () => {
      this.waiting -= bytes.length;
      if (this.waiting === 0) this.release();
    });
  }

  private release(): void {
    const held = this.held;
    this.held = [];
    this.heldBytes = 0;
    if (this.skipped > 0) this.onSkipped(this.skipped);
    this.skipped = 0;
    for (const bytes of held) this.pass(bytes);
  }
}
