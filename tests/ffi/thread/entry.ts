import { registerErrors } from "../../../base/error.ts";
import { GgmlError, type GgmlErrorDetails } from "../../../base/errors.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { serveTasks } from "../../../ffi/thread/worker_server.ts";

/** An error class of a module that both threads import. */
export class ProbeError extends GgmlError {
  static override readonly code: string = "PROBE";
  /** The place. */
  readonly path: string;

  /** Takes the place among the details. */
  constructor(message: string, details: GgmlErrorDetails & { path?: string } = {}) {
    super(message, details);
    this.path = details.path ?? "";
  }
}
registerErrors(ProbeError);

/** The tasks of the tests' native thread. */
export const tasks = {
  echo: (value: unknown) => value,
  add: async ({ a, b }: { a: number; b: number }) => await Promise.resolve(a + b),
  byteLength: (bytes: Uint8Array) => bytes.byteLength,
  fail: (kind: "ggml" | "range" | "value" | "nested") => {
    if (kind === "ggml") {
      throw new ProbeError("it went wrong", {
        value: 5,
        expected: "4",
        path: "/a/b",
        cause: new ProbeError("deeper", { cause: new TypeError("deepest") }),
      });
    }
    if (kind === "range") throw new RangeError("too far");
    if (kind === "nested") throw new Error("outer", { cause: { plain: true } });
    throw 42;
  },
  unsendable: () => () => {},
  post: (count: number, { post }: TaskContext<number>) => {
    for (let index = 0; index < count; index++) post(index);
    return count;
  },
  postBuffer: (size: number, { post }: TaskContext<Uint8Array<ArrayBuffer>>) => {
    const bytes = new Uint8Array(size).fill(7);
    post(bytes, [bytes.buffer]);
    return bytes.byteLength;
  },
  /** Tells that it runs, then hears messages until "stop"; gives all it heard. */
  listen: (_: null, { post, receive, throwIfCancelled }: TaskContext<"running", string>) => {
    post("running");
    const heard: string[] = [];
    while (heard.at(-1) !== "stop") {
      throwIfCancelled();
      const message = receive();
      if (message !== undefined) heard.push(message);
    }
    return heard;
  },
  /** Tells that it runs, then runs until it is cancelled; returns instead of throwing when asked to. */
  untilCancelled: (returns: boolean, { post, cancelled, throwIfCancelled }: TaskContext<"running">) => {
    post("running");
    while (!cancelled());
    if (!returns) throwIfCancelled();
    return "returned";
  },
  /** What a C function sees of the cancel flag. */
  flag: (
    _: null,
    { native, cancel }: TaskContext,
  ) => [
    cancel.callback === native.symbol<"ggml_abort_callback">("ggml_get_no_alloc"),
    typeof cancel.data,
    cancel.data !== 0n,
  ],
  cancelled: (_: null, { cancelled }: TaskContext) => cancelled(),
  held: (wanted: number, { cores }: TaskContext) => [cores.acquire(wanted), cores.total],
  throwLater: () => {
    queueMicrotask(() => {
      throw new Error("outside of any task");
    });
    return new Promise<never>(() => {});
  },
} as const;

serveTasks(tasks);
