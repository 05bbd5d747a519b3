import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import { openReader, type Reader } from "./editor";

export interface CodeHandle {
  find: () => void;
}

export interface CodeViewProps {
  /** For its language. */
  path: string;
  text: string;
  /** What is read, for those who cannot see it. */
  label: string;
  wrap?: boolean | undefined;
  ref?: Ref<CodeHandle> | undefined;
}

/**
 * Code to read: highlighted by the file's name, with line numbers and Ctrl-F. Characters that hide are shown by number.
 * When the text changes, the reader stays at the same place. Import it lazily: it brings CodeMirror.
 */
export function CodeView({ path, text, label, wrap = false, ref }: CodeViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const reader = useRef<Reader | null>(null);
  const first = useRef(text);
  first.current = text;
  useEffect(() => {
    if (!box.current) return;
    const opened = openReader(box.current, path, first.current, label);
    reader.current = opened;
    return () => {
      opened.close();
      reader.current = null;
    };
  }, [path, label]);
  useEffect(() => reader.current?.show(text), [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is another reader, which has to be told too
  useEffect(() => reader.current?.wrap(wrap), [wrap, path, label]);
  useImperativeHandle(ref, () => ({ find: () => reader.current?.find() }));
  return <div ref={box} className="h-full min-h-0 min-w-0" />;
}
