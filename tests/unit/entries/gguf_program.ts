// Run without --allow-ffi, and in a browser.
import { encodeGguf, GgmlError, GgufFile } from "../../../lib/gguf/mod.ts";

const bytes = encodeGguf({
  metadata: { "general.name": "tiny" },
  tensors: [{ name: "w", shape: [2], type: "f32", data: Float32Array.of(1, 2) }],
});
await using file = await GgufFile.open(bytes);
const numbers = new Float32Array((await file.readTensor("w")).buffer, 0, 2);
const codes: string[] = [];
for (const source of [new Uint8Array(64), "/no/such.gguf", "file:///no/such.gguf"]) {
  try {
    await GgufFile.open(source);
  } catch (error) {
    codes.push(error instanceof GgmlError ? error.code : String(error));
  }
}
const result = { name: file.header.metadata.get("general.name"), numbers: [...numbers], codes };
(globalThis as { result?: unknown }).result = result;
console.log(JSON.stringify(result));
