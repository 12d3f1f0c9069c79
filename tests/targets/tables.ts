import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { hostTarget } from "../../ffi/library/platform.ts";
import { open } from "../../ffi/open.ts";
import { structNames } from "../../ffi/tables.ts";
import { checkLowering } from "../../scripts/check_tables/lowering.ts";

const native = await open();

test("the target is the one that was meant", () => {
  assert.equal(native.set.target, process.env["GGML_FFI_TARGET"] ?? hostTarget());
  assert.equal(hostTarget(), native.set.target);
});

test("each function of the tables is found and bound", () => {
  const { lines, problems } = checkLowering(native);
  assert.deepEqual(problems, []);
  console.log(`answer: ${lines[0]}`);
});

test("structs have room for their fields", () => {
  for (const name of structNames()) {
    const view = native.struct(name as "llama_batch");
    assert.ok(native.bytesOf(view).length > 0, name);
  }
});

test("structs go by value: default parameters make a vocabulary", () => {
  const { lib } = native;
  assert.equal(typeof lib.llama_max_devices(), "bigint");
  const chain = lib.llama_sampler_chain_init(native.defaults("llama_sampler_chain_params"));
  assert.notEqual(chain, null);
  assert.equal(lib.llama_sampler_chain_n(chain!), 0);
  lib.llama_sampler_free(chain!);
});
