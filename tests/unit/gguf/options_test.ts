import assert from "node:assert/strict";
import test from "node:test";
import { editGguf, encodeGguf, GgufFile } from "../../../lib/gguf/mod.ts";

const content = { tensors: [{ name: "t", type: "f32", shape: [1], data: Float32Array.of(1) }] } as const;

async function refused(run: () => Promise<unknown>, message: string): Promise<void> {
  await assert.rejects(run, { code: "INVALID_ARGUMENT", message });
}

test("options of a server are checked for every source", async () => {
  const open = (options: unknown) => () => GgufFile.open(encodeGguf(content), options as never);
  await refused(open({ timeoutMs: 0 }), "timeoutMs is 0; expected an integer from 1 to 2147483647");
  await refused(open({ headers: 1 }), "headers is 1; expected an object of strings");
  await refused(open({ headers: { a: 1 } }), "headers.a is 1; expected a string");
  await refused(open({ timeout: 1 }), 'GgufFile.open has no option "timeout"; did you mean timeoutMs?');
});

test("a part is one of the tensor's bytes", async () => {
  await using file = await GgufFile.open(encodeGguf(content));
  const read = (options: unknown) => () => file.readTensor("t", options as never);
  await refused(read({ byteOffset: 5 }), "byteOffset is 5; expected an integer from 0 to 4");
  await refused(read({ byteOffset: 1, byteLength: 4 }), "byteLength is 4; expected an integer from 0 to 3");
  assert.deepEqual(await read({ byteOffset: 2 })(), new Uint8Array([0x80, 0x3f]));
});

test("an edit is refused before the file is opened", async () => {
  await refused(
    () => editGguf("/nowhere.gguf", { output: 1 as never }),
    "the path of the file is 1; expected a string",
  );
  await refused(
    () => editGguf("/nowhere.gguf", { reserve: -1 }),
    "reserve is -1; expected an integer from 0 to 16777216",
  );
});
