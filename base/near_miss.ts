/** A name may differ from the one that was meant by this many edits. */
const MAX_EDITS = 2;

/** Returns the known name that is most like a given one, or `undefined` when none is like enough. Case and punctuation don't count. */
export function nearMiss(given: string, known: readonly string[]): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  let best: string | undefined;
  let bestDistance = MAX_EDITS + 1;
  for (const one of known) {
    const distance = editDistance(plain(given), plain(one));
    if (distance < bestDistance) [best, bestDistance] = [one, distance];
  }
  return best;
}

/** Returns how many characters must be inserted, removed or replaced to turn one text into another. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
