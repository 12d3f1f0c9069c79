import assert from "node:assert/strict";
import test from "node:test";
import { packMessage, unpackMessage } from "../../ffi/thread/message.ts";

/** Whether a typed array is left anywhere, which would be slow to receive. */
function hasArrays(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof DataView) return false;
  return ArrayBuffer.isView(value) || Object.values(value).some(hasArrays);
}

const arrays = [
  new Float32Array(1000).fill(0.5),
  new Float64Array(1000).fill(0.1),
  new Uint8Array(2000).fill(7),
  new Int32Array(1000).fill(-3),
  new BigInt64Array(1000).fill(-3n),
  new Uint16Array(4000).subarray(100, 2000),
];

test("large arrays come as they were sent, wherever they stand", () => {
  for (const array of arrays) {
    for (
      const message of [array, { samples: array }, [array, array], {
        a: { b: [array] },
        text: "x",
        count: 1n,
        none: null,
      }]
    ) {
      const packed = packMessage(message);
      assert.equal(hasArrays(packed), false);
      assert.deepEqual(unpackMessage(structuredClone(packed)), message);
    }
  }
});

test("a transferred array arrives with its memory", () => {
  const array = new Float32Array(1000).fill(0.25);
  const packed = packMessage({ array });
  const come = unpackMessage(structuredClone(packed, { transfer: [array.buffer] })) as { array: Float32Array };
  assert.equal(array.length, 0);
  assert.deepEqual(come.array, new Float32Array(1000).fill(0.25));
});

test("all else goes as it is", () => {
  const others = [
    1,
    "text",
    null,
    undefined,
    5n,
    { small: new Float32Array(3), list: [1, 2, 3], map: new Map([[1, 2]]), date: new Date(0) },
    [{ text: "a" }, { text: "b" }],
    new DataView(new ArrayBuffer(5000)),
    new ArrayBuffer(5000),
    { packedArray: "Float32Array", data: "text" },
    { packedArray: "constructor", data: new DataView(new ArrayBuffer(8)) },
  ];
  for (const value of others) {
    assert.equal(packMessage(value), value);
    assert.equal(unpackMessage(value), value);
  }
});
