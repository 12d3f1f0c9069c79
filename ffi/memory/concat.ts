/**
 * Several pieces as one array of numbers, in memory of its own.
 *
 * @param Type the kind of array, such as `Uint8Array`.
 * @param pieces what it consists of, in order.
 */
export function joined<T extends { set(values: ArrayLike<number>, at: number): void }>(
  Type: new (length: number) => T,
  pieces: readonly ArrayLike<number>[],
): T {
  const whole = new Type(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
