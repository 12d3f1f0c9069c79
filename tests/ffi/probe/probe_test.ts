import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { hostAbi } from "../../../ffi/call/abi.ts";
import type { Signature } from "../../../ffi/types/signature.ts";
import { bytesOf } from "../../../ffi/memory/struct_factory.ts";
import { hasThunk } from "../../../ffi/call/thunk.ts";
import { randomBelow } from "../../support/random.ts";
import { hash, leaves, mix, openProbe, type Probe, someBytes } from "./probe.ts";

const probe = await openProbe();
const { layouts, structs, runtime } = probe;

/** The ways to pass structs that this system has: the runtime's own, scalars only, and the thunk for everything. */
const ways: Readonly<Record<string, Probe["bind"]>> = {
  "the runtime's own way": probe.bind,
  "lowered to scalars": probe.bindAs({ structs: false, maxParameters: 32 }),
  ...(hasThunk(hostAbi()) ? { "through the thunk": probe.bindAs({ structs: false, maxParameters: 0 }) } : {}),
};

/** Where binding is slow, as in an emulator, each so-manieth struct does. */
const step = Number(process.env.GGML_FFI_PROBE_STEP ?? 1);
const tried = layouts.filter((_, index) => index % step === 0);
console.log(`structs: ${tried.length} of ${layouts.length}`);

/** Runs `check` for the structs of the probe and reports all that went wrong at once. */
function forEachLayout(check: (name: string, next: ReturnType<typeof randomBelow>) => void): void {
  const wrong: string[] = [];
  for (const [index, { name }] of tried.entries()) {
    try {
      check(name, randomBelow(index + 1));
    } catch (error) {
      wrong.push(`${name}: ${(error as Error).message.split("\n").slice(0, 3).join(" ")}`);
    }
  }
  assert.deepEqual(wrong, []);
}

function filled(name: string, next: ReturnType<typeof randomBelow>) {
  const layout = probe.layoutOf(name);
  const of = leaves(layout, probe.layoutOf);
  const bytes = someBytes(layout, of, next);
  return { view: structs.from(name, bytes), bytes, of };
}

test("the probe has structs of every size from 1 to 320", () => {
  const sizes = new Set(layouts.map((layout) => layout.size));
  for (let size = 1; size <= 320; size++) assert.ok(sizes.has(size));
});

test("layouts are the C compiler's", () => {
  forEachLayout((name) => {
    const layout = probe.layoutOf(name);
    const out = new BigUint64Array(2 + layout.fields.length);
    probe.bind(`layout_${name}`, { parameters: ["pointer"], result: "void" })(out);
    assert.deepEqual([...out].map(Number), [layout.size, layout.align, ...layout.fields.map((field) => field.offset)]);
  });
});

for (const [way, bind] of Object.entries(ways)) {
  test(`structs of every shape go in and come back by value, ${way}`, () => {
    forEachLayout((name, next) => {
      const { view, bytes, of } = filled(name, next);
      const back = bind(`echo_${name}`, { parameters: [{ struct: name }], result: { struct: name } })(view);
      assert.equal(hash(0n, bytesOf(back), of), hash(0n, bytes, of));
      assert.deepEqual(bytesOf(view), bytes);
    });
  });

  test(`a struct comes back by value, ${way}`, () => {
    forEachLayout((name, next) => {
      const { bytes, of } = filled(name, next);
      const back = bind(`make_${name}`, { parameters: ["pointer"], result: { struct: name } })(bytes);
      assert.equal(hash(0n, bytesOf(back), of), hash(0n, bytes, of));
    });
  });

  test(`C may write to its copy of a struct and the caller's stays, ${way}`, () => {
    forEachLayout((name, next) => {
      const { view, bytes, of } = filled(name, next);
      const take = bind(`take_${name}`, { parameters: [{ struct: name }], result: "u64" });
      assert.equal(take(view), hash(0n, bytes, of));
      assert.deepEqual(bytesOf(view), bytes);
    });
  });

  test(`structs between scalars of all kinds find their registers and stack words, ${way}`, () => {
    forEachLayout((name, next) => {
      const [one, other, last] = [filled(name, next), filled(name, next), filled(name, next)];
      const struct = { struct: name };
      const signature: Signature = {
        parameters: ["i32", "f64", struct, "i64", "f32", struct, "u8", "f64", struct, "i16"],
        result: "u64",
      };
      const got = bind(`between_${name}`, signature)(
        -5,
        1.5,
        one.view,
        -7n,
        2.5,
        other.view,
        200,
        -0.25,
        last.view,
        -300,
      );
      const bits = new DataView(new ArrayBuffer(8));
      const bits64 = (value: number): bigint => (bits.setFloat64(0, value), bits.getBigUint64(0));
      const bits32 = (value: number): bigint => (bits.setFloat32(0, value), BigInt(bits.getUint32(0)));
      let sum = 7n;
      for (const { bytes, of } of [one, other, last]) sum = hash(sum, bytes, of);
      for (const word of [-5n, bits64(1.5), -7n, bits32(2.5), 200n, bits64(-0.25), -300n]) sum = mix(sum, word);
      assert.equal(got, sum);
    });
  });
}

test("scalars of every kind go in and come back", () => {
  const call = (name: string, type: Signature["result"], value: unknown): unknown =>
    probe.bind(name, { parameters: [type as "i32"], result: type })(value);
  assert.equal(call("negate", "bool", true), false);
  assert.equal(call("negate", "bool", false), true);
  assert.equal(call("minus_i8", "i8", 100), -100);
  assert.equal(call("plus_u16", "u16", 65534), 65535);
  assert.equal(call("plus_u32", "u32", 0xfffffffe), 0xffffffff);
  assert.equal(call("minus_i64", "i64", 2n ** 62n), -(2n ** 62n));
  assert.equal(call("plus_u64", "u64", 2n ** 64n - 2n), 2n ** 64n - 1n);
  assert.equal(call("half_f32", "f32", 5), 2.5);
  assert.equal(call("half_f64", "f64", 1e300), 5e299);
});

test("integers and floats mixed keep their order", () => {
  const mixed = probe.bind("mixed_order", { parameters: ["f32", "i32", "f64", "i64", "f32"], result: "f64" });
  assert.equal(mixed(1, 2, 3, 4n, 5), 54321);
});

test("forty arguments", () => {
  const many = probe.bind("many_40", { parameters: Array.from({ length: 40 }, () => "i32" as const), result: "i32" });
  const values = Array.from({ length: 40 }, (_, index) => index % 2 === 0 ? index : -index);
  if (!hasThunk(hostAbi()) && runtime.maxParameters < 40) {
    assert.throws(() => many(...values), { code: "UNSUPPORTED_SIGNATURE", value: "many_40" });
    return;
  }
  assert.equal(many(...values), values.reduce((sum, value, index) => sum + value * (index + 1), 0));
});

test("strings, buffers and null for pointers", () => {
  const length = probe.bind("length", { parameters: ["pointer"], result: "u64" });
  assert.equal(length("grüß€"), 9n);
  assert.equal(length(""), 0n);
  assert.throws(() => length("a\0b"), { code: "INVALID_ARGUMENT" });
  const same = probe.bind("same", { parameters: ["pointer"], result: "pointer" });
  assert.equal(same(null), null);
  assert.equal(same(4096n), 4096n);
  assert.notEqual(same(new Uint8Array(0)), null);
  assert.throws(() => same(5), { code: "INVALID_ARGUMENT" });
  const sum = probe.bind("sum_bytes", { parameters: ["pointer", "u64"], result: "u64" });
  const bytes = Uint8Array.from({ length: 100 }, (_, index) => index);
  assert.equal(sum(bytes, 100n), 4950n);
  assert.equal(sum(bytes.subarray(50), 50n), 3725n);
  assert.equal(sum(new DataView(bytes.buffer, 90, 10), 10n), 945n);
  const floats = new Float32Array(new SharedArrayBuffer(16));
  probe.bind("fill_floats", { parameters: ["pointer", "i32"], result: "void" })(floats, 4);
  assert.deepEqual([...floats], [0, 0.5, 1, 1.5]);
});

test("a call of a name that isn't there throws when it is called", () => {
  const absent = probe.bind("absent", { parameters: [], result: "void" });
  assert.throws(() => absent(), { code: "SYMBOL_NOT_FOUND", value: "absent" });
});

test("a struct of another kind, or none, is refused", () => {
  const take = probe.bind("take_bytes_40", { parameters: [{ struct: "bytes_40" }], result: "u64" });
  for (const value of [structs.make("words_5"), null, {}, new Uint8Array(40)]) {
    assert.throws(() => take(value), { code: "INVALID_ARGUMENT" });
  }
});

test("C calls a function of this thread, also from inside a call", () => {
  const apply = probe.bind("apply", { parameters: ["pointer", "i32", "f64", "pointer"], result: "i32" });
  const seen: unknown[] = [];
  const callback = runtime.callback(
    { parameters: ["i32", "f64", "u64"], result: "i32" },
    (a: number, b: number, data: bigint) => {
      seen.push([a, b, BigInt(data)]);
      return a > 0 ? apply(callback.address, a - 1, b / 2, 77n) : 100;
    },
  );
  assert.equal(apply(callback.address, 2, 1, 77n), 103);
  assert.deepEqual(seen, [[2, 1, 77n], [1, 0.5, 77n], [0, 0.25, 77n]]);
  callback.close();
});
