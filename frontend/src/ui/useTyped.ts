import { useEffect, useState } from "react";

const TYPING_MS = 250;

/**
 * What is typed into a field whose words stand in the address. They go there when the typing rests; back and forward
 * change the address and with it what is typed.
 *
 * @param query  the words in the address.
 * @param onRest  puts what was typed there. Another function begins the rest anew.
 */
export function useTyped(query: string, onRest: (typed: string) => void): [string, (typed: string) => void] {
  const [typed, setTyped] = useState(query);
  const [seen, setSeen] = useState(query);
  /** What was put into the address and is not there yet; what was typed since then stays when it is. */
  const [put, setPut] = useState<readonly string[]>([]);
  if (seen !== query) {
    setSeen(query);
    const own = put.indexOf(query.trim());
    setPut(own < 0 ? [] : put.slice(own + 1));
    if (own < 0 && typed.trim() !== query.trim()) setTyped(query);
  }
  useEffect(() => {
    if (typed === query) return;
    const timer = setTimeout(() => {
      setPut((before) => [...before.filter((other) => other !== typed.trim()), typed.trim()]);
      onRest(typed);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, query, onRest]);
  return [typed, setTyped];
}
