import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import test from "node:test";
import { Native, NativeThread, open } from "../../../ffi/mod.ts";
import { freeSlot } from "../../../ffi/thread/worker_pool.ts";
import type { tasks } from "./entry.ts";
import { runModule } from "../support.ts";

type Tasks = typeof tasks;

const native = await open();
const entry = new URL("./entry.ts", import.meta.url);
const start = (): Promise<NativeThread<Tasks>> => NativeThread.start<Tasks>(native, { entry });

/** A Promise that settles when the task has said that it runs. */
function running(): { onMessage: () => void; started: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { onMessage: resolve, started: promise };
}

test("a task's result comes back, whatever plain data it is", async () => {
  await using thread = await start();
  assert.equal(await thread.run("add", { a: 2, b: 3 }), 5);
  const value = { a: [1, 2n, "ü", null, undefined], b: Float32Array.of(1.5), c: new Map([[1, new Date(0)]]) };
  assert.deepEqual(await thread.run("echo", value), value);
});

test("requests run in the order in which they were made", async () => {
  await using thread = await start();
  const order: number[] = [];
  await Promise.all(Array.from({ length: 50 }, async (_, index) => {
    assert.equal(await thread.run("echo", index), index);
    order.push(index);
  }));
  assert.deepEqual(order, Array.from({ length: 50 }, (_, index) => index));
});

test("messages arrive in order, before the result", async () => {
  await using thread = await start();
  const heard: unknown[] = [];
  const result = await thread.run("post", 100, { onMessage: (message) => heard.push(message) });
  assert.deepEqual(heard, Array.from({ length: 100 }, (_, index) => index));
  assert.equal(result, 100);
});

test("buffers move where that is asked for, both ways", async () => {
  await using thread = await start();
  const input = new Uint8Array(1000);
  assert.equal(await thread.run("byteLength", input, { transfer: [input.buffer] }), 1000);
  assert.equal(input.byteLength, 0);
  let received: Uint8Array | undefined;
  assert.equal(await thread.run("postBuffer", 10, { onMessage: (bytes) => received = bytes }), 0);
  assert.deepEqual(received, new Uint8Array(10).fill(7));
});

test("a running task hears messages; one that has ended doesn't, nor does the next", async () => {
  await using thread = await start();
  const { onMessage, started } = running();
  const first = thread.run("listen", null, { onMessage });
  await started;
  first.post("one");
  first.post("two");
  first.post("stop");
  assert.deepEqual(await first, ["one", "two", "stop"]);
  first.post("late");
  const next = running();
  const second = thread.run("listen", null, { onMessage: next.onMessage });
  await next.started;
  second.post("stop");
  assert.deepEqual(await second, ["stop"]);
});

test("errors arrive as the class they were, with value, expected and causes", async () => {
  await using thread = await start();
  const { ProbeError } = await errorModule();
  await assert.rejects(thread.run("fail", "ggml"), (error: InstanceType<typeof ProbeError> & { path?: string }) => {
    assert.ok(error instanceof ProbeError);
    assert.deepEqual([error.name, error.code, error.message, error.value, error.expected, error.path], [
      "ProbeError",
      "PROBE",
      "it went wrong",
      5,
      "4",
      "/a/b",
    ]);
    assert.match(error.stack ?? "", /thread.entry/);
    assert.ok(error.cause instanceof ProbeError);
    assert.ok(error.cause.cause instanceof TypeError);
    return true;
  });
  await assert.rejects(thread.run("fail", "range"), RangeError);
  await assert.rejects(thread.run("fail", "nested"), (error: Error) => {
    assert.deepEqual(error.cause, { plain: true });
    return true;
  });
  await thread.run("fail", "value").then(() => assert.fail("no error"), (thrown: unknown) => assert.equal(thrown, 42));
  assert.equal(await thread.run("add", { a: 1, b: 1 }), 2);
});

/** The entry module can't be imported here, since it serves tasks: the class is made known by hand. */
async function errorModule() {
  const { GgmlError, registerErrors } = await import("../../../base/error.ts");
  class ProbeError extends GgmlError {
    static override readonly code: string = "PROBE";
  }
  registerErrors(ProbeError);
  return { ProbeError };
}

test("a result or an input that can't be sent is an error of that request alone", async () => {
  await using thread = await start();
  await assert.rejects(thread.run("unsendable", undefined as never), /clone|function/i);
  await assert.rejects(thread.run("echo", () => {}), /clone|function/i);
  assert.equal(await thread.run("echo", 1), 1);
});

test("an unknown task is named", async () => {
  await using thread = await start();
  await assert.rejects(thread.run("fly" as "echo", 1), { code: "INVALID_ARGUMENT", value: "fly" });
});

test("cancelling a running task rejects with the signal's reason; the next request isn't cancelled", async () => {
  await using thread = await start();
  const reason = new Error("enough");
  const abort = new AbortController();
  const { onMessage, started } = running();
  const run = thread.run("untilCancelled", false, { signal: abort.signal, onMessage });
  const next = thread.run("cancelled", null);
  await started;
  abort.abort(reason);
  await assert.rejects(run, (error) => error === reason);
  assert.equal(await next, false);
});

test("a task that finishes in spite of a cancel has its result", async () => {
  await using thread = await start();
  const abort = new AbortController();
  const { onMessage, started } = running();
  const run = thread.run("untilCancelled", true, { signal: abort.signal, onMessage });
  await started;
  abort.abort();
  assert.equal(await run, "returned");
});

test("cancelling a request that waits rejects at once and doesn't touch the one that runs", async () => {
  await using thread = await start();
  const { onMessage, started } = running();
  const first = thread.run("listen", null, { onMessage });
  const abort = new AbortController();
  const waiting = thread.run("echo", 1, { signal: abort.signal });
  await started;
  abort.abort("no more");
  await waiting.then(() => assert.fail("no error"), (reason: unknown) => assert.equal(reason, "no more"));
  first.post("stop");
  assert.deepEqual(await first, ["stop"]);
});

test("a signal that is aborted already rejects without a request", async () => {
  await using thread = await start();
  await assert.rejects(thread.run("echo", 1, { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("an onMessage that throws cancels the task and rejects with that", async () => {
  await using thread = await start();
  const error = new Error("the listener");
  const run = thread.run("untilCancelled", false, {
    onMessage: () => {
      throw error;
    },
  });
  await assert.rejects(run, (thrown) => thrown === error);
  assert.equal(await thread.run("echo", 1), 1);
});

test("C sees the cancel flag", async () => {
  await using thread = await start();
  assert.deepEqual(await thread.run("flag", null), [true, "bigint", true]);
});

test("single C calls on the thread, with memory in place, strings, structs and null", async () => {
  await using thread = await start();
  assert.equal(await thread.call("ggml_type_size", 0), 4n);
  assert.equal(native.readCString(await thread.call("ggml_version")), native.set.ggmlVersion);
  const floats = new Float32Array(3);
  await thread.call("ggml_fp16_to_fp32_row", Uint16Array.of(0x3c00, 0x4000, 0xc000) as never, floats, 3n);
  assert.deepEqual([...floats], [1, 2, -2]);
  const params = native.struct("ggml_init_params");
  params.mem_size = 1024n;
  const context = (await thread.call("ggml_init", params))!;
  assert.equal(typeof context, "bigint");
  const tensor = (await thread.call("ggml_new_tensor_1d", context, 0, 4n))!;
  await thread.call("ggml_set_name", tensor, "ünïcode");
  assert.equal(native.readCString(native.lib.ggml_get_name(tensor)), "ünïcode");
  native.lib.ggml_free(context);
  const batch = await thread.call("llama_batch_init", 4, 0, 1);
  assert.notEqual(batch.pos, null);
  native.lib.llama_batch_free(batch);
  assert.equal(
    await thread.call("llama_model_load_from_file", "/no/such/model.gguf", native.defaults("llama_model_params")),
    null,
  );
  await assert.rejects(thread.call("llama_fly" as "llama_free", 0n as never), { code: "INVALID_ARGUMENT" });
  await assert.rejects(thread.call("ggml_init", native.struct("llama_logit_bias") as never), {
    code: "INVALID_ARGUMENT",
    value: "llama_logit_bias",
  });
});

test("dispose waits for what was asked for, then refuses", async () => {
  const thread = await start();
  const { onMessage, started } = running();
  const first = thread.run("listen", null, { onMessage });
  const second = thread.run("echo", 2);
  await started;
  let disposed = false;
  const dispose = thread[Symbol.asyncDispose]().then(() => disposed = true);
  assert.equal(thread.closed, true);
  await assert.rejects(thread.run("echo", 1), { code: "DISPOSED" });
  assert.equal(disposed, false);
  first.post("stop");
  assert.deepEqual(await first, ["stop"]);
  assert.equal(await second, 2);
  await dispose;
  assert.equal(thread[Symbol.asyncDispose](), thread[Symbol.asyncDispose]());
});

test("a thread that was given back serves the next owner", async () => {
  const first = await start();
  const tid = await first.call("ggml_version");
  await first[Symbol.asyncDispose]();
  const second = await start();
  assert.equal(await second.call("ggml_version"), tid);
  assert.equal(await second.run("echo", "again"), "again");
  await second[Symbol.asyncDispose]();
});

test("two threads work at once", async () => {
  await using one = await start();
  await using other = await start();
  const first = running();
  const second = running();
  const a = one.run("listen", null, { onMessage: first.onMessage });
  const b = other.run("listen", null, { onMessage: second.onMessage });
  await Promise.all([first.started, second.started]);
  b.post("stop");
  assert.deepEqual(await b, ["stop"]);
  a.post("stop");
  assert.deepEqual(await a, ["stop"]);
});

test("a task holds cores while it runs and gives them back when it ends", async () => {
  await using thread = await start();
  const total = availableParallelism();
  assert.deepEqual(await thread.run("held", total), [total, total]);
  assert.deepEqual(await thread.run("held", total), [total, total]);
});

test("a thread without an entry calls C functions and has no tasks", async () => {
  await using thread = await NativeThread.start<{ echo: (value: number) => number }>(native);
  assert.equal(await thread.call("ggml_type_size", 0), 4n);
  await assert.rejects(thread.run("echo", 1), { code: "INVALID_ARGUMENT", value: "echo" });
});

test("a Worker that doesn't load is an error of start", async () => {
  const bad = NativeThread.start(native, { entry: new URL("./bad_entry.ts", import.meta.url) });
  await assert.rejects(bad, (error: Error & { code: string }) => {
    assert.equal(error.code, "NATIVE_THREAD");
    assert.match(error.message, /doesn't load/);
    return true;
  });
  const absent = NativeThread.start(native, { entry: new URL("./no_such_module.ts", import.meta.url) });
  await assert.rejects(absent, { code: "NATIVE_THREAD" });
});

test("an entry that is no URL, or none that a Worker can be made of, is an error of start and costs no thread", async () => {
  for (const wrong of ["x", 5, {}]) {
    const started = NativeThread.start(native, { entry: wrong as unknown as URL });
    await assert.rejects(started, { code: "INVALID_ARGUMENT", value: wrong });
  }
  await assert.rejects(NativeThread.start(native, { entry: new URL("nope:x") }), { code: "NATIVE_THREAD" });
});

test("more threads than a process can have are refused by their number", () => {
  assert.equal(freeSlot(new Set([0, 1, 3])), 2);
  const all = new Set(Array.from({ length: 256 }, (_, slot) => slot));
  assert.throws(() => freeSlot(all), (error: Error & { code: string }) => {
    assert.equal(error.code, "NATIVE_THREAD");
    assert.match(error.message, /256 native threads already.*dispose/);
    return true;
  });
});

test("libraries that can't be opened are an error of start", async () => {
  const native = Native.open({ libraryPath: "/no/such/folder" });
  await assert.rejects(NativeThread.start(native, { entry }), { code: "LIBRARY_NOT_FOUND" });
});

test("a Worker that dies takes its requests with it, and no others", async () => {
  const dying = await start();
  await using other = await start();
  const doomed = dying.run("throwLater", undefined as never);
  const waiting = dying.run("echo", 1);
  await assert.rejects(doomed, { code: "NATIVE_THREAD" });
  await assert.rejects(waiting, { code: "NATIVE_THREAD" });
  await assert.rejects(dying.run("echo", 1), { code: "NATIVE_THREAD" });
  assert.equal(dying.closed, true);
  await dying[Symbol.asyncDispose]();
  assert.equal(await other.run("echo", 1), 1);
});

test("an idle thread lets the program end, a pending request doesn't", async () => {
  const idle = await runModule("thread/child.ts", ["idle"]);
  assert.deepEqual([idle.code, idle.stdout, idle.stderr], [0, "end of main\n", ""]);
  const pending = await runModule("thread/child.ts", ["pending"]);
  assert.deepEqual([pending.code, pending.stdout, pending.stderr], [0, "end of main\nresult 499500\n", ""]);
});
