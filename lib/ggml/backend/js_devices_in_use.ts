import { DisposedError, UnsupportedOperationError } from "../../errors.ts";

/** The backends whose functions are JavaScript's: only the thread that made them may call them. */
export const callerOnly: Set<bigint> = new Set();

/** Devices and buffer types in TypeScript whose functions are gone. */
const ended = new Set<bigint>();

/** Notes that nothing may call these any more: their functions go now. */
export function endJsDevice(...pointers: readonly bigint[]): void {
  for (const pointer of pointers) ended.add(pointer);
}

/** Notes that these addresses are in use, maybe again. */
export function beginJsDevice(...pointers: readonly bigint[]): void {
  for (const pointer of pointers) ended.delete(pointer);
}

/** The pointer itself. Throws DisposedError for what a JavaScript device took with it. */
export function assertInUse<T extends bigint>(pointer: T): T {
  if (!ended.has(pointer)) return pointer;
  throw new DisposedError("the device in TypeScript was disposed; make another one", {
    value: pointer,
    expected: "a device in use",
  });
}

/** Throws UnsupportedOperationError for a backend that no native thread may use. */
export function assertAnyThread(backends: readonly { readonly unsafePointer: bigint; readonly name: string }[]): void {
  const found = backends.find(({ unsafePointer }) => callerOnly.has(unsafePointer));
  if (found === undefined) return;
  throw new UnsupportedOperationError(
    `${found.name} is a backend in TypeScript, which only this thread can call; use computeSync(graph)`,
    { value: found.name, expected: "backends of native code" },
  );
}
