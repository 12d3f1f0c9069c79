import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import process from "node:process";
import test from "node:test";
import type { Guard } from "../../../ffi/containment/guard.ts";
import { guardOf } from "../../../ffi/native.ts";
import { Linux } from "../../../ffi/containment/linux.ts";
import { readCString } from "../../../ffi/memory/c_string.ts";
import {
  InvalidArgumentError,
  NativeAbortError,
  NativeHangError,
  NativeThread,
  open,
  type Pointer,
} from "../../../ffi/mod.ts";
import { nativeRuntime } from "../../../ffi/runtime/types.ts";
import { type System, systemOf } from "../../../ffi/runtime/system.ts";
import type { tasks } from "./abort_entry.ts";
import { runModule } from "../support.ts";

const native = await open();
const { lib } = native;
const entry = new URL("./abort_entry.ts", import.meta.url);
const start = (watchdogMs?: number) => NativeThread.start<typeof tasks>(native, { entry, watchdogMs });
const empty = lib.gguf_init_empty() as Pointer<"gguf_context">;
// Elsewhere an abort ends the process.
const linux = process.platform === "linux" ? test : () => {};

linux(
  "an assertion rejects the call with what it said, and all that waits; the thread is lost, another isn't",
  async () => {
    const thread = await start();
    await using other = await start();
    const failed = thread.call("gguf_get_val_u32", empty, 5n);
    const waiting = thread.run("echo", 1);
    await assert.rejects(failed, (error: NativeAbortError) => {
      assert.ok(error instanceof NativeAbortError);
      assert.equal(error.code, "NATIVE_ABORT");
      assert.match(String(error.value), /gguf\.cpp:\d+: GGML_ASSERT\(.*key_id.*\) failed$/);
      assert.ok(error.message.includes(String(error.value)));
      return true;
    });
    await assert.rejects(waiting, NativeAbortError);
    assert.ok(thread.lost instanceof NativeAbortError);
    assert.equal(thread.closed, true);
    await assert.rejects(thread.run("echo", 1), (error) => error === thread.lost);
    await thread[Symbol.asyncDispose]();
    assert.equal(await other.run("echo", 2), 2);
  },
);

linux("abort() without a word says so", async () => {
  const thread = await start();
  await assert.rejects(thread.run("libc", "abort"), (error: NativeAbortError) => {
    assert.ok(error instanceof NativeAbortError);
    assert.equal(error.value, undefined);
    assert.match(error.message, /without a word/);
    return true;
  });
});

linux("what an abort said isn't pushed out by what others log before it is read", async () => {
  const thread = await start();
  const guard = guardOf(native) as Guard;
  const before = guard.parkedCount;
  const failed = thread.call("gguf_get_val_u32", empty, 5n);
  while (guard.parkedCount === before);
  const params = native.defaults("llama_model_params");
  for (let time = 0; time < 600; time++) lib.llama_model_load_from_file("/no/model.gguf", params);
  await assert.rejects(failed, /GGML_ASSERT/);
});

linux("two threads that give up at once each have their own words", async () => {
  const [one, two] = [await start(), await start()];
  const params = native.struct("ggml_init_params");
  params.mem_size = 1024n;
  const context = lib.ggml_init(params) as Pointer<"ggml_context">;
  const calls = [one.call("gguf_get_val_u32", empty, 5n), two.call("ggml_new_tensor_1d", context, 0, 1n << 20n)];
  const errors = (await Promise.allSettled(calls)).map((end) => String((end as PromiseRejectedResult).reason.value));
  assert.match(errors[0] ?? "", /gguf\.cpp/);
  assert.match(errors[1] ?? "", /ggml\.c:/);
});

linux("a call that never returns is given up", async () => {
  const thread = await start(200);
  await assert.rejects(thread.run("libc", "pause"), (error: NativeHangError) => {
    assert.ok(error instanceof NativeHangError);
    assert.equal(error.value, 200);
    return true;
  });
  await assert.rejects(thread.run("echo", 1), NativeHangError);
});

linux("a call that uses the processor isn't given up before it is cancelled, and then is", async () => {
  const thread = await start(200);
  const abort = new AbortController();
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const run = thread.run("spin", null, { signal: abort.signal, onMessage: () => resolve() });
  const ended = run.then(() => "returned", (error: unknown) => error);
  await started;
  assert.equal(
    await Promise.race([ended, new Promise((pass) => setTimeout(pass, 600, "still running"))]),
    "still running",
  );
  abort.abort();
  assert.ok(await ended instanceof NativeHangError);
});

linux("wrong options of a thread are refused", async () => {
  const wrong: readonly [string, unknown][] = [
    ["nativeAbort", "Exit"],
    ["watchdogMs", -1],
    ["watchdogMs", NaN],
    ["watchdogMs", "5"],
    ["onLog", 5],
    ["logLevel", 4],
    ["logLevel", "warning"],
    ["onlog", () => {}],
  ];
  for (const [name, value] of wrong) {
    await assert.rejects(NativeThread.start(native, { [name]: value }), (error: InvalidArgumentError) => {
      assert.ok(error instanceof InvalidArgumentError, String(error));
      assert.ok(error.message.includes(name), error.message);
      assert.equal(error.value, name === "onlog" ? name : value);
      return true;
    });
  }
});

linux("how long a thread has run is known where /proc has no schedstat", async () => {
  const runtime = await nativeRuntime();
  const system = systemOf(runtime);
  const libc: System["libc"] = (name, signature) => {
    const call = system.libc(name, signature);
    if (name !== "open") return call;
    return (path, ...rest) => readCString(runtime, path as bigint).endsWith("/schedstat") ? -1 : call(path, ...rest);
  };
  const linux = new Linux(runtime, { ...system, libc });
  const tid = linux.threadNumber();
  const before = linux.runtimeOf(tid);
  assert.ok(before !== undefined && before > 0);
  while ((linux.runtimeOf(tid) ?? NaN) - before < 1e6);
  assert.equal(linux.runtimeOf(1 << 22), undefined);
});

linux("what native code logs on a thread can be read there, and only what came after the mark", () => {
  const load = (path: string) => lib.llama_model_load_from_file(path, native.defaults("llama_model_params"));
  load("/no/first.gguf");
  const mark = native.logMark();
  assert.equal(load("/no/second.gguf"), null);
  const lines = native.logSince(mark).map(({ text }) => text).join("\n");
  assert.match(lines, /second\.gguf/);
  assert.doesNotMatch(lines, /first\.gguf/);
  assert.ok(native.logSince(mark).every(({ level }) => level === "warn" || level === "error"));
  assert.deepEqual(native.logSince(native.logMark()), []);
});

linux("the log keeps what it can hold when more is written", () => {
  const mark = native.logMark();
  const log = native.lib.llama_model_load_from_file;
  for (let time = 0; time < 400; time++) log(`/no/${time}.gguf`, native.defaults("llama_model_params"));
  const lines = native.logSince(mark);
  assert.ok(lines.length > 300 && lines.length <= 512, String(lines.length));
  assert.match(lines.map(({ text }) => text).join("\n"), /399\.gguf/);
});

linux("outside of native threads, and where it was asked for, an abort ends the program and says why", async () => {
  for (const kind of ["main", "worker", "exit"]) {
    const { code, signal, stderr } = await runModule("containment/abort_child.ts", [kind]);
    assert.ok(signal === "SIGABRT" || code === 134, `${kind}: ${code} ${signal}`);
    assert.match(stderr, /GGML_ASSERT\(.*key_id.*\) failed/, kind);
  }
});

linux("nothing in the environment is taken for the guard's address", async () => {
  // Addresses of nothing, the handler that a program has at first, the handler that ignores the signal.
  for (const [data, park] of [["1000", "0"], ["1000", "1"], ["0", "0"], ["x", "y"]]) {
    const env = { GGML_FFI_GUARD: [data, "2000", "3000", park].join(":") };
    const { code, stdout, stderr } = await runModule("containment/abort_child.ts", ["here"], env);
    assert.deepEqual([code, stdout], [0, "main NativeAbortError\n"], stderr);
  }
  const source = await readFile(new URL("../../../ffi/containment/guard.ts", import.meta.url), "utf8");
  assert.doesNotMatch(source, /getenv|setEnvironment|process\.env/);
});

linux(
  "two JavaScript threads that open the libraries contain aborts beside each other; in Bun the main one alone",
  async () => {
    const { code, signal, stdout } = await runModule("containment/abort_child.ts", ["both"]);
    if ("bun" in process.versions) {
      assert.ok(signal === "SIGABRT" || code === 134, `${code} ${signal}`);
      assert.equal(stdout, "main NativeAbortError\n");
      return;
    }
    assert.equal(code, 0);
    assert.equal(stdout, "main NativeAbortError\nworker NativeAbortError\nmain NativeAbortError\n");
  },
);
