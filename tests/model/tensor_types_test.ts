import assert from "node:assert/strict";
import test from "node:test";
import { open } from "../../ffi/mod.ts";
import { tensorTypes } from "../../lib/gguf/tensor_types.ts";

/** `GGML_TYPE_COUNT` of the pinned release. */
const count = 43;

test("the table of tensor types is the library's own", async () => {
  const { lib, ...native } = await open().then((native) => ({
    lib: native.lib,
    text: (id: number) => native.readCString(native.lib.ggml_type_name(id as never)),
  }));
  for (let id = 0; id < count; id++) {
    const type = tensorTypes.get(id);
    const blockSize = Number(lib.ggml_blck_size(id as never));
    if (blockSize === 0) assert.equal(type, undefined, String(id));
    else {
      assert.deepEqual(type, {
        id,
        name: native.text(id),
        blockSize,
        typeSize: Number(lib.ggml_type_size(id as never)),
      });
    }
  }
  assert.equal(Math.max(...tensorTypes.keys()), count - 1);
});
