import type { KeyboardEvent, PointerEvent } from "react";
import { BACK, dir, FORWARD } from "@/i18n";
import { t } from "@/i18n/en/workspace";
import { NARROWEST, widest } from "./view";

const STEP = 32;

/** The edge that sets the width of what comes after it: by dragging, or by arrow keys. */
export function WidthHandle({ width, onResize }: { width: number; onResize: (width: number) => void }) {
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.parentElement?.getBoundingClientRect();
    if (box) onResize(dir === "rtl" ? event.clientX - box.left : box.right - event.clientX);
  };
  const press = (event: KeyboardEvent) => {
    const by = { [BACK]: STEP, [FORWARD]: -STEP, Home: -innerWidth, End: innerWidth }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onResize(width + by);
  };
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={t("width")}
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={widest(innerWidth)}
      tabIndex={0}
      onKeyDown={press}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      className="absolute inset-y-0 -start-1 z-(--layer-stuck) w-2 cursor-col-resize touch-none hover:bg-accent-line focus-visible:bg-accent max-xl:hidden"
    />
  );
}
