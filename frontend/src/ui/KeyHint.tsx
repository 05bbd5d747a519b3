const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
const SHOWN: Record<string, string> = APPLE
  ? { Mod: "⌘", Alt: "⌥", Shift: "⇧" }
  : { Mod: "Ctrl", Alt: "Alt", Shift: "Shift" };

/** Keys that do the same, such as `Mod+K`: Command on a Mac, Control elsewhere. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span dir="ltr" className="inline-flex items-center gap-0.5">
      {keys.split("+").map((key) => (
        <kbd key={key} className="rounded-sm border border-current/25 px-1 text-xs leading-4 opacity-90">
          {SHOWN[key] ?? key}
        </kbd>
      ))}
    </span>
  );
}
