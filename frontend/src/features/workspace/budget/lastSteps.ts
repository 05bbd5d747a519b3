/** The newest steps of a stream that is read from its beginning: looked for by halves, as nothing says how many there are. */

interface Step {
  index: number;
}

const WANTED = 200;

/**
 * At most the last few hundred steps, oldest first.
 *
 * @param read steps past an index, in order.
 */
export async function lastSteps<Row extends Step>(
  read: (after: number, limit: number) => Promise<{ items: Row[] }>,
  wanted = WANTED,
): Promise<Row[]> {
  const first = (await read(0, wanted)).items;
  if (first.length < wanted) return first;
  const exists = async (after: number) => (await read(after, 1)).items.length > 0;
  let known = wanted;
  let beyond = wanted * 2;
  while (await exists(beyond)) {
    known = beyond;
    beyond *= 2;
  }
  while (beyond - known > wanted / 2) {
    const middle = Math.floor((known + beyond) / 2);
    if (await exists(middle)) known = middle;
    else beyond = middle;
  }
  return (await read(Math.max(0, beyond - wanted), wanted)).items;
}
