import { type ComponentProps, type RefObject, useLayoutEffect, useRef } from "react";

/** A box that scrolls inside itself, also by keys: while something is out of sight, the box takes the focus. */
export function ScrollBox({ children, ...rest }: Omit<ComponentProps<"div">, "ref" | "tabIndex">) {
  const box = useRef<HTMLDivElement>(null);
  useFocusWhileScrolling(box);
  return (
    <div ref={box} {...rest}>
      {children}
    </div>
  );
}

/** Chromium alone lets Tab reach a box that scrolls, and only one without a control in it. */
export function useFocusWhileScrolling(box: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const scrolls = element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1;
      if (scrolls) element.tabIndex = 0;
      else element.removeAttribute("tabindex");
    };
    const watched = new ResizeObserver(measure);
    watched.observe(element);
    for (const child of element.children) watched.observe(child);
    measure();
    return () => watched.disconnect();
  });
}
