import assert from "node:assert/strict";
import { Console } from "node:console";
import { Writable } from "node:stream";
import test from "node:test";
import { inspect } from "node:util";
import { DisposedError, NativeAbortError } from "../../../base/errors.ts";
import { definePicture, listPicture, sizePicture } from "../../../base/inspect.ts";
import { runModule } from "../../ffi/support.ts";

class Thing {
  readonly #fault: Error | undefined;
  static {
    definePicture(Thing, "Thing", (thing) => {
      if (thing.#fault !== undefined) throw thing.#fault;
      return "f32[3,2]";
    });
  }
  constructor(fault?: Error) {
    this.#fault = fault;
  }
}

class Plain {
  static {
    definePicture(Plain, "Plain", () => "");
  }
}

/** What a console writes for a value. */
function logged(value: unknown): string {
  let text = "";
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  new Console({ stdout }).log(value);
  return text.trimEnd();
}

test("an object's picture is the same wherever it is printed, alone and inside of others", () => {
  const thing = new Thing();
  assert.equal(String(thing), "Thing f32[3,2]");
  assert.equal(`${thing}`, "Thing f32[3,2]");
  assert.equal(inspect(thing), "Thing f32[3,2]");
  assert.equal(inspect({ list: [{ thing }] }, { depth: 9 }), "{ list: [ { thing: Thing f32[3,2] } ] }");
  assert.equal(logged(thing), "Thing f32[3,2]");
  const deno = (globalThis as { Deno?: { inspect(value: unknown): string } }).Deno;
  if (deno !== undefined) assert.equal(deno.inspect([thing]), "[ Thing f32[3,2] ]");
  assert.equal(String(new Plain()), "Plain");
});

test("the runtime's own console.log prints the picture", async () => {
  const { stdout } = await runModule("../unit/base/inspect_child.ts", []);
  // Bun breaks the line, Deno doesn't.
  assert.match(stdout, /^Thing ready\n\{\s+nested: Thing ready,?\s+\}\n$/);
});

test("a picture never throws: it says what became of the object", () => {
  assert.equal(String(new Thing(new DisposedError("it was disposed"))), "Thing (disposed)");
  assert.equal(inspect(new Thing(new NativeAbortError("it was lost"))), "Thing (lost)");
  assert.equal(inspect(new Thing(new TypeError("a fault"))), "Thing (unavailable)");
  assert.equal(String(Thing.prototype), "[Thing prototype]");
  assert.equal(inspect(Object.create(Thing.prototype)), "Thing (unavailable)");
  assert.deepEqual(Object.keys(new Thing()), []);
});

test("lists are cut in the middle, sizes have three digits at most", () => {
  assert.equal(listPicture([]), "[]");
  assert.equal(listPicture(Float32Array.of(0.1, 2)), "[0.1, 2]");
  assert.equal(listPicture([1, 2, 3, 4, 5, 6]), "[1, 2, 3, 4, 5, 6]");
  assert.equal(listPicture([1, 2, 3, 4, 5, 6, 7]), "[1, 2, 3, …, 7]");
  assert.equal(listPicture(BigInt64Array.of(5n)), "[5]");
  assert.equal(listPicture(["a"]), '["a"]');
  assert.deepEqual(
    [0, 999, 1000, 9_960, 98_362_432, 999_600_000, 4.2e9, 5e15, 7n].map((size) => sizePicture(size)),
    ["0 B", "999 B", "1.0 kB", "10 kB", "98 MB", "1.0 GB", "4.2 GB", "5000.0 TB", "7 B"],
  );
});
