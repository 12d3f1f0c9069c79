import assert from "node:assert/strict";
import { test } from "node:test";
import { type Native, NativeAbortError, NativeThreadError, open } from "../../../ffi/mod.ts";
import { ComputeThread } from "../../../lib/ggml/backend/compute_thread.ts";

const native = await open();

test("a thread that didn't start is started again by the next work, and nothing is lost", async () => {
  let tries = 0;
  const flaky = {
    then(resolve: (value: Native) => void, reject: (error: Error) => void): void {
      if (tries++ === 0) reject(new NativeThreadError("no thread to be had"));
      else resolve(native);
    },
  };
  const thread = new ComputeThread(flaky as unknown as Native);
  let released = 0;
  const work = (): Promise<string> => thread.run([() => released++], () => Promise.resolve("done"));
  await assert.rejects(work(), { code: "NATIVE_THREAD" });
  assert.equal(thread.lost, undefined);
  assert.equal(await work(), "done");
  assert.equal(released, 2);
  assert.equal(thread.working, false);
  thread.end();
});

test("what native code aborted in stays lost, and what it held stays held", async () => {
  const thread = new ComputeThread(native);
  let released = 0;
  const abort = new NativeAbortError("ggml.c:1: GGML_ASSERT(x) failed");
  await assert.rejects(thread.run([() => released++], () => Promise.reject(abort)), abort);
  assert.throws(() => thread.assertKept(), abort);
  await assert.rejects(thread.run([() => released++], () => Promise.resolve("done")), abort);
  assert.equal(released, 0);
  thread.end();
});
