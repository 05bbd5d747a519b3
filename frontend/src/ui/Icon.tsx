import { cx } from "./classes";

/** Strokes on a field of 16 by 16. Drawn for this page. */
const PATHS = {
  "arrow-right": "M3 8h10M9 4l4 4-4 4",
  "arrow-left": "M13 8H3M7 4 3 8l4 4",
  bell: "M4 11.5V7a4 4 0 0 1 8 0v4.5l1 1H3zM6.5 14.2h3",
  bolt: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
  book: "M3 3.5h4a1 1 0 0 1 1 1v9a1 1 0 0 0-1-1H3zM13 3.5H9a1 1 0 0 0-1 1v9a1 1 0 0 1 1-1h4z",
  calendar: "M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2v3M10.5 2v3",
  chart: "M2.5 2.5v11h11M5 10.5l2.5-3 2 1.5L13 5",
  chat: "M2.5 3h11v8H7l-3 2.5V11H2.5z",
  check: "M3 8.5 6.5 12 13 4.5",
  "chevron-down": "m4 6 4 4 4-4",
  "chevron-left": "m10 4-4 4 4 4",
  "chevron-right": "m6 4 4 4-4 4",
  "chevron-up": "m4 10 4-4 4 4",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.5V8l2.5 1.5",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  copy: "M6 6h7.5v7.5H6zM10 6V2.5H2.5V10H6",
  cross: "m4 4 8 8M12 4l-8 8",
  download: "M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10",
  edit: "M3 13l.5-2.8L10.8 3l2.2 2.2-7.2 7.3zM9.3 4.5l2.2 2.2",
  external: "M6.5 3.5h-3v9h9v-3M9 2.5h4.5V7M13.5 2.5 7.5 8.5",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
  file: "M4 1.8h5l3 3v9.4H4zM9 1.8v3h3",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  flag: "M4 14V2.5h8L10 5.5l2 3H4",
  folder: "M2 12.8V3.5h4l1.5 2H14v7.3z",
  gear: "M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4",
  globe: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c-4.5 4-4.5 8 0 12M8 2c4.5 4 4.5 8 0 12",
  home: "M2.5 7.5 8 2.5l5.5 5M4 6.5v7h8v-7",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.2V11M8 5v.1",
  key: "M5.2 7.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM7.4 8.4 13.5 2.5M11 5l2 2",
  link: "M6.5 9.5a2.5 2.5 0 0 0 3.6 0l2.6-2.6a2.5 2.5 0 0 0-3.6-3.6l-1 1M9.5 6.5a2.5 2.5 0 0 0-3.6 0L3.3 9.1a2.5 2.5 0 0 0 3.6 3.6l1-1",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4v.1M2.5 8v.1M2.5 12v.1",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  mail: "M2 3.5h12v9H2zM2 4.5l6 4.5 6-4.5",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  memory: "M4 4h8v8H4zM6.2 2v2M9.8 2v2M6.2 12v2M9.8 12v2M2 6.2h2M2 9.8h2M12 6.2h2M12 9.8h2",
  minus: "M3 8h10",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  more: "M3 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M12 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0",
  paperclip: "m12.5 7.5-5 5a3 3 0 0 1-4.3-4.3l5.5-5.4a2 2 0 0 1 2.9 2.9l-5.4 5.3a1 1 0 0 1-1.4-1.4l4.7-4.7",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  pin: "M5.5 2.5h5l-.8 4 2.3 2.3H4l2.3-2.3zM8 8.8v5",
  play: "M4.5 3v10l8-5z",
  plug: "M5.5 2v3M10.5 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14",
  plus: "M8 3v10M3 8h10",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2",
  send: "M2.5 8 13.5 3l-3 10.5L7.8 9z",
  shield: "M8 1.8 3 3.8V8c0 3 2.2 5.2 5 6.2 2.8-1 5-3.2 5-6.2V3.8z",
  "sort-down": "M8 3v10M4 9l4 4 4-4",
  "sort-up": "M8 13V3M4 7l4-4 4 4",
  stop: "M4 4h8v8H4z",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  terminal: "M2 3h12v10H2zM4.5 6 7 8.2 4.5 10.5M8.5 10.5h3",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9M6.8 7v4M9.2 7v4",
  undo: "M5.5 3 2.5 6l3 3M2.5 6h7a3.5 3.5 0 0 1 0 7H6",
  upload: "M8 11V3M4.5 6 8 2.5 11.5 6M3 13.5h10",
  user: "M8 2.5a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM2.8 13.5c.6-2.6 2.5-4 5.2-4s4.6 1.4 5.2 4",
  warning: "M8 2.2 1.8 13.2h12.4zM8 6.5v3M8 11.3v.1",
  window: "M2 3h12v10H2zM2 6h12",
} as const;

export type IconName = keyof typeof PATHS;

/** Those that point along the writing, and turn with it. */
const MIRRORED: readonly IconName[] = ["arrow-left", "arrow-right", "chevron-left", "chevron-right", "send", "undo"];

/** A sign beside words. It says nothing by itself: the control that holds it has the words. */
export function Icon({ name, size = 16, className }: { name: IconName; size?: 12 | 14 | 16 | 20; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      focusable="false"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={size > 16 ? 1.3 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      className={cx("shrink-0", MIRRORED.includes(name) && "rtl:-scale-x-100", className)}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
