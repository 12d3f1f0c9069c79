// A model that is disposed while a call that will abort is under way. A process of its own: what is lost stays mapped.
import assert from "node:assert/strict";
import { loadDoomed } from "./abort_support.ts";

const { model, fail } = await loadDoomed();
const failed = assert.rejects(fail("assert"), { code: "NATIVE_ABORT" });
const disposed = model.dispose();
await failed;
await disposed;
assert.throws(() => model.tokenize("a"), { code: "DISPOSED" });
console.log("right");
