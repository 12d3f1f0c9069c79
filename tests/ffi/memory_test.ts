import assert from "node:assert/strict";
import test from "node:test";
import { open } from "../../ffi/mod.ts";
import type { Pointer } from "../../ffi/mod.ts";

const native = await open();

test("views share native memory, copies don't", () => {
  const memory = new Uint8Array(16);
  const pointer = native.addressOf(memory);
  const view = native.view(pointer, 16);
  const copy = native.copy(pointer, 16);
  memory[3] = 9;
  assert.equal(view[3], 9);
  assert.equal(copy[3], 0);
  view[4] = 8;
  assert.equal(memory[4], 8);
  new Float32Array(memory.buffer)[2] = 1.5;
  assert.equal(native.viewFloat32(pointer, 4)[2], 1.5);
  assert.equal(native.viewInt32(pointer, 4)[2], 0x3fc00000);
  assert.equal(native.view(pointer, 0).length, 0);
});

test("a wrong length is refused", () => {
  const pointer = native.addressOf(new Uint8Array(8));
  for (const length of [-1, 1.5, NaN]) assert.throws(() => native.view(pointer, length), { code: "INVALID_ARGUMENT" });
});

test("the address of a part of an array, of a small one, and of one whose buffer is touched later", () => {
  const array = new Uint8Array(8);
  const address = native.addressOf(array);
  assert.equal(native.addressOf(array.subarray(3)), address + 3n);
  array.buffer.slice(0);
  assert.equal(native.addressOf(array), address);
  assert.notEqual(native.addressOf(new Uint8Array(0)), 0n);
});

test("the address of memory that was empty and grew is its own", () => {
  const nothing = native.addressOf(new Uint8Array(0));
  for (const Buffer of [ArrayBuffer, SharedArrayBuffer]) {
    const buffer = new Buffer(0, { maxByteLength: 64 });
    const bytes = new Uint8Array(buffer);
    assert.equal(native.addressOf(bytes), nothing);
    if (buffer instanceof ArrayBuffer) buffer.resize(64);
    else buffer.grow(64);
    const address = native.addressOf(bytes);
    assert.notEqual(address, nothing);
    bytes[5] = 7;
    assert.equal(native.view(address, 64)[5], 7);
  }
});

test("strings out of native memory", () => {
  const read = (bytes: readonly number[]): string =>
    native.readCString(native.addressOf<"char">(Uint8Array.from(bytes)));
  assert.equal(read([0x67, 0xc3, 0xbc, 0]), "gü");
  assert.equal(read([0x61, 0xff, 0x62, 0]), "a\ufffdb");
  assert.equal(read([0xe2, 0x82, 0]), "\ufffd");
  assert.equal(read([0]), "");
  assert.equal(native.readCString(null), "");
});

test("a string longer than a page", () => {
  const text = "äbc".repeat(5000);
  const bytes = new TextEncoder().encode(`${text}\0`);
  for (const offset of [0, 1, 4090]) {
    const memory = new Uint8Array(offset + bytes.length);
    memory.set(bytes, offset);
    assert.equal(native.readCString(native.addressOf<"char">(memory.subarray(offset))), text);
  }
});

test("a callback on the calling thread, closed after", () => {
  const seen: string[] = [];
  using callback = native.callback("ggml_log_callback", (level, text) => {
    seen.push(`${level} ${native.readCString(text)}`);
  });
  const previous = [new BigUint64Array(1), new BigUint64Array(1)] as const;
  native.lib.ggml_log_get(previous[0], previous[1] as never);
  native.lib.ggml_log_set(callback.pointer, 0n as Pointer);
  native.lib.ggml_backend_load("/no/such/backend.so");
  native.lib.ggml_log_set(previous[0][0] as Pointer<"ggml_log_callback">, previous[1][0] as Pointer);
  assert.ok(seen.some((line) => line.includes("/no/such/backend.so")), seen.join("|"));
});

test("an exception in a callback surfaces after C returns", () => {
  const { lib } = native;
  using callback = native.callback("ggml_log_callback", () => {
    throw new RangeError("from the callback");
  });
  const previous = new BigUint64Array(1);
  lib.ggml_log_get(previous, new BigUint64Array(1) as never);
  lib.ggml_log_set(callback.pointer, 0n as Pointer);
  try {
    assert.throws(() => lib.ggml_backend_load("/no/such/backend.so"), RangeError);
  } finally {
    lib.ggml_log_set(previous[0] as Pointer<"ggml_log_callback">, 0n as Pointer);
  }
});

test("an unknown callback type is refused", () => {
  assert.throws(() => native.callback("no_such_type" as "ggml_log_callback", () => {}), { code: "INVALID_ARGUMENT" });
});
