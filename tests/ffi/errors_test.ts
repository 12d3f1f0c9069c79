import assert from "node:assert/strict";
import test from "node:test";
import { deserializeError, registerErrors, serializeError } from "../../base/error.ts";
import {
  DisposedError,
  GgmlError,
  InvalidArgumentError,
  LibraryOpenError,
  type SerializedError,
} from "../../base/errors.ts";

/** There and back as through a message. */
function travelled(error: unknown): unknown {
  return deserializeError(structuredClone(serializeError(error)));
}

test("an error has its class's code, and what was wrong", () => {
  const cause = new Error("why");
  const error = new InvalidArgumentError("topP is 2", { value: 2, expected: "0 to 1", cause });
  assert.ok(error instanceof GgmlError && error instanceof Error);
  assert.deepEqual([error.name, error.code, error.value, error.expected, error.cause], [
    "InvalidArgumentError",
    "INVALID_ARGUMENT",
    2,
    "0 to 1",
    cause,
  ]);
  assert.equal("cause" in new GgmlError("no cause"), false);
});

test("an error travels with its class, fields, stack and causes", () => {
  const root = new RangeError("root");
  const middle = new LibraryOpenError("middle", { value: { path: "/x" }, cause: root });
  const error = new DisposedError("outer", { expected: "a live one", cause: middle });
  const back = travelled(error) as DisposedError;
  assert.ok(back instanceof DisposedError);
  assert.deepEqual([back.message, back.code, back.expected, back.stack], [
    "outer",
    "DISPOSED",
    "a live one",
    error.stack,
  ]);
  assert.ok(back.cause instanceof LibraryOpenError);
  assert.deepEqual(back.cause.value, { path: "/x" });
  assert.ok(back.cause.cause instanceof RangeError);
  assert.equal(back.cause.cause.message, "root");
});

test("errors of the language, of the platform and unknown ones", () => {
  const custom = new Error("custom");
  custom.name = "CustomError";
  for (const error of [new TypeError("t"), new Error("e"), custom]) {
    const back = travelled(error) as Error;
    assert.deepEqual([back.name, back.message, Object.getPrototypeOf(back)], [
      error.name,
      error.message,
      Object.getPrototypeOf(error),
    ]);
  }
  const abort = travelled(new DOMException("stopped", "AbortError")) as Error;
  assert.deepEqual([abort.name, abort.message, abort instanceof DOMException], ["AbortError", "stopped", true]);
  assert.equal(travelled("text"), "text");
  assert.equal(travelled(undefined), undefined);
  assert.deepEqual(travelled({ a: 1 }), { a: 1 });
});

test("what others add to an error travels: system errors, errors of errors, errors as properties", () => {
  const system = Object.assign(new Error("ENOENT"), { code: "ENOENT", errno: -2, syscall: "open", path: "/x" });
  const back = travelled(new GgmlError("outer", { cause: system })) as GgmlError;
  assert.deepEqual({ ...back.cause as Error }, { ...system });
  const several = travelled(new AggregateError([new DisposedError("one"), 2], "several")) as AggregateError;
  assert.ok(several instanceof AggregateError && several.errors[0] instanceof DisposedError);
  assert.equal(several.errors[1], 2);
  const odd = Object.assign(new GgmlError("odd", { value: new DisposedError("inside") }), {
    first: new InvalidArgumentError("first", { value: 1 }),
    run: () => 1,
    cyclic: {},
  });
  Object.assign(odd.cyclic, { odd: odd.cyclic });
  Object.defineProperty(odd, "thrower", { enumerable: true, get: () => assert.fail("read") });
  const arrived = travelled(odd) as typeof odd;
  assert.ok(arrived.value instanceof DisposedError);
  assert.ok(arrived.first instanceof InvalidArgumentError && arrived.first.value === 1);
  assert.equal(typeof arrived.run, "string");
  assert.equal((arrived.cyclic as { odd: unknown }).odd, arrived.cyclic);
  assert.equal("thrower" in arrived, false);
  assert.equal((JSON.parse(JSON.stringify(odd)) as SerializedError).code, "GGML_ERROR");
});

test("a value that can't travel becomes text", () => {
  const back = travelled(new InvalidArgumentError("bad", { value: () => 1 })) as InvalidArgumentError;
  assert.equal(typeof back.value, "string");
  const nested = travelled(new InvalidArgumentError("bad", { value: { f: () => 1 } })) as InvalidArgumentError;
  assert.equal(nested.value, "[object Object]");
});

test("a cause that points back at its error doesn't end in a loop", () => {
  const error = new GgmlError("round");
  Object.defineProperty(error, "cause", { value: error });
  const back = travelled(error) as Error;
  assert.equal(back.message, "round");
});

test("an error as JSON", () => {
  const json = JSON.parse(
    JSON.stringify(new InvalidArgumentError("bad", { value: 10n, cause: new Error("why") })),
  ) as SerializedError;
  assert.deepEqual([json.name, json.code, json.message], ["InvalidArgumentError", "INVALID_ARGUMENT", "bad"]);
  assert.equal((json.cause as SerializedError).message, "why");
});

test("two classes can't have one code", () => {
  class Twin extends GgmlError {
    static override readonly code = "DISPOSED";
  }
  assert.throws(() => registerErrors(Twin), /DISPOSED is taken/);
  registerErrors(DisposedError);
});
