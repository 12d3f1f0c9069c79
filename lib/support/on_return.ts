/**
 * Makes an iterator tell when it is left, also before its first step: a generator runs none of its code then, so its `finally` alone wouldn't do.
 *
 * @param items the iterator.
 * @param leave called when it is returned from.
 * @returns the same iterator.
 */
export function onReturn<T>(
  items: AsyncGenerator<T, void, undefined>,
  leave: () => Promise<void>,
): AsyncGenerator<T, void, undefined> {
  const end = items.return.bind(items);
  items.return = async (value) => {
    const ended = await end(value);
    await leave();
    return ended;
  };
  return items;
}
