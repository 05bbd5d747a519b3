import { Running } from "./Running";

/** What runs in the session's machine. */
export function TerminalPanel({ session }: { session: string }) {
  return (
    <div className="p-4">
      <Running session={session} />
    </div>
  );
}
