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
  if (seen !== query) {
    setSeen(query);
    if (typed.trim() !== query.trim()) setTyped(query);
  }
  useEffect(() => {
    if (typed === query) return;
    const timer = setTimeout(() => onRest(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, query, onRest]);
  return [typed, setTyped];
}
