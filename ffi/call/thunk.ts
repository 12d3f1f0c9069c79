import type { Abi, ArgumentPlace, Piece, Placement } from "./abi.ts";
import type { CallSupport, LibFunction } from "./caller.ts";
import type { NativeRuntime, RawFunction, Scalar } from "../runtime/types.ts";
import { isStruct, SCALAR_SIZE, type Signature } from "../types/signature.ts";
import { bytesOf } from "../memory/struct_factory.ts";
import { systemOf } from "../runtime/system.ts";

/*
 * A few dozen machine instructions that load every argument register and the stack from a block of memory, call a function, and store every result
 * register. It reaches what a scalar FFI can't: more argument words, AArch64's x8, and results in more than one register. `thunk_x86_64.S` and
 * `thunk_aarch64.S` are its source; a test assembles it.
 */

/** Offsets in a call's block, in bytes. */
const FUNCTION = 0,
  STACK_WORDS = 8,
  STACK = 16,
  INTEGERS = 24,
  X8 = 88,
  FLOATS = 96,
  RESULT_INTEGERS = 160,
  RESULT_FLOATS = 176;
const BLOCK_SIZE = 208;

/** The conventions that have a thunk. */
export function hasThunk(abi: Abi): boolean {
  return abi !== "win64";
}

/** The thunk's machine code for a convention. */
export function thunkCode(abi: Abi): Uint8Array<ArrayBuffer> {
  return abi === "sysv" ? x86() : arm();
}

/** `void thunk(block *rdi)` */
function x86(): Uint8Array<ArrayBuffer> {
  const wide = (offset: number): number[] => [offset & 255, offset >> 8, 0, 0];
  const loadFloats = Array.from(
    { length: 8 },
    (_, index) => [0xf3, 0x0f, 0x7e, 0x83 + index * 8, ...wide(FLOATS + index * 8)],
  );
  // deno-fmt-ignore
  return new Uint8Array([
    0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x08, // push rbp; mov rbp, rsp; push rbx; sub rsp, 8
    0x48, 0x89, 0xfb, // mov rbx, rdi
    0x48, 0x8b, 0x4b, STACK_WORDS, 0x48, 0x8b, 0x53, STACK, // mov rcx, words; mov rdx, stack
    0x48, 0x85, 0xc9, 0x74, 0x08, 0x48, 0xff, 0xc9, 0xff, 0x34, 0xca, 0xeb, 0xf3, // while (rcx != 0) push rdx[--rcx]
    ...loadFloats.flat(), // movq xmm0..7
    0x48, 0x8b, 0x7b, INTEGERS, 0x48, 0x8b, 0x73, INTEGERS + 8, 0x48, 0x8b, 0x53, INTEGERS + 16, // rdi, rsi, rdx
    0x48, 0x8b, 0x4b, INTEGERS + 24, 0x4c, 0x8b, 0x43, INTEGERS + 32, 0x4c, 0x8b, 0x4b, INTEGERS + 40, // rcx, r8, r9
    0xb8, 8, 0, 0, 0, 0xff, 0x13, // mov eax, 8; call [rbx]
    0x48, 0x89, 0x83, ...wide(RESULT_INTEGERS), 0x48, 0x89, 0x93, ...wide(RESULT_INTEGERS + 8), // rax, rdx
    0x66, 0x0f, 0xd6, 0x83, ...wide(RESULT_FLOATS), 0x66, 0x0f, 0xd6, 0x8b, ...wide(RESULT_FLOATS + 8), // xmm0, xmm1
    0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3, // mov rbx, [rbp - 8]; leave; ret
  ]);
}

/** `void thunk(block *x0)` */
function arm(): Uint8Array<ArrayBuffer> {
  const block = 19 << 5;
  const loadPair = (first: number, offset: number): number =>
    0xa9400000 | (offset / 8) << 15 | (first + 1) << 10 | block | first;
  const loadFloats = (first: number): number =>
    0x6d400000 | ((FLOATS + first * 8) / 8) << 15 | (first + 1) << 10 | block | first;
  const storeFloats = (first: number): number =>
    0x6d000000 | ((RESULT_FLOATS + first * 8) / 8) << 15 | (first + 1) << 10 | block | first;
  // deno-fmt-ignore
  return new Uint8Array(Uint32Array.of(
    0xa9be7bfd, 0xf9000bf3, 0x910003fd, 0xaa0003f3, // stp x29, x30, [sp, -32]!; str x19, [sp, 16]; mov x29, sp; mov x19, x0
    loadPair(9, STACK_WORDS), 0xcb296fff, // ldp x9, x10; sub sp, sp, x9 * 8
    0xb40000a9, 0xd1000529, 0xf869794b, 0xf8297beb, 0x17fffffc, // while (x9 != 0) { x9--; sp[x9] = x10[x9] }
    loadFloats(0), loadFloats(2), loadFloats(4), loadFloats(6),
    0xf9400000 | (X8 / 8) << 10 | block | 8, // ldr x8
    loadPair(0, INTEGERS), loadPair(2, INTEGERS + 16), loadPair(4, INTEGERS + 32), loadPair(6, INTEGERS + 48),
    0xf9400270, 0xd63f0200, // ldr x16, [x19]; blr x16
    0xa9000000 | (RESULT_INTEGERS / 8) << 15 | 1 << 10 | block, // stp x0, x1
    storeFloats(0), storeFloats(2),
    0x910003bf, 0xf9400bf3, 0xa8c27bfd, 0xd65f03c0, // mov sp, x29; ldr x19, [sp, 16]; ldp x29, x30, [sp], 32; ret
  ).buffer);
}

const thunks = new WeakMap<NativeRuntime, RawFunction>();

/** The thunk as a callable function of a block's address; its code is put into memory on first use. */
function thunkOf(runtime: NativeRuntime, abi: Abi): RawFunction {
  let thunk = thunks.get(runtime);
  if (thunk === undefined) {
    const address = systemOf(runtime).executable(thunkCode(abi));
    thunk = runtime.functionAt(address, { parameters: ["u64"], result: "void" });
    thunks.set(runtime, thunk);
  }
  return thunk;
}

/** A caller that goes through the thunk. Slower than a lowered call: some microseconds. */
export function thunkCaller(
  runtime: NativeRuntime,
  address: bigint,
  signature: Signature,
  placement: Placement,
  support: CallSupport,
): LibFunction {
  const thunk = thunkOf(runtime, placement.abi);
  const stackWords = Math.ceil(placement.stackSize / 16) * 2;
  return (...values: unknown[]): unknown => {
    // A call of its own block: C may call back into JavaScript, which may call the same function again.
    const block = new Block(runtime, stackWords);
    const mark = support.retained.length;
    support.retained.push(block);
    try {
      const result = isStruct(signature.result) ? support.make(signature.result.struct) : undefined;
      block.setWord(FUNCTION, address);
      if (placement.result.kind === "hidden") block.setWord(INTEGERS, support.at(result as never));
      if (placement.result.kind === "x8") block.setWord(X8, support.at(result as never));
      for (const [index, place] of placement.arguments.entries()) {
        block.put(place, argumentBytes(values[index], signature, index, place, support));
      }
      thunk(block.address);
      if (result === undefined) return block.scalar(placement.result.type, signature.result === "pointer");
      if (placement.result.pieces !== undefined) block.take(placement.result.pieces, bytesOf(result));
      return result;
    } finally {
      support.retained.length = mark;
    }
  };
}

/** An argument's bytes as they lie in memory. */
function argumentBytes(
  value: unknown,
  signature: Signature,
  index: number,
  place: ArgumentPlace,
  support: CallSupport,
): Uint8Array {
  const type = signature.parameters[index];
  if (type !== undefined && isStruct(type)) {
    return place.kind === "address"
      ? scalarBytes("u64", support.copy(value, type.struct))
      : support.bytes(value, type.struct);
  }
  if (type === "pointer") return scalarBytes("u64", support.address(value));
  return scalarBytes(place.type ?? "u64", value);
}

const scratch = new DataView(new ArrayBuffer(8));

/** Small integers are widened to eight bytes, so that the whole register has the value that C expects. */
function scalarBytes(type: Scalar, value: unknown): Uint8Array {
  scratch.setBigUint64(0, 0n);
  if (type === "f32") scratch.setFloat32(0, value as number, true);
  else if (type === "f64") scratch.setFloat64(0, value as number, true);
  else scratch.setBigInt64(0, BigInt.asIntN(64, BigInt(value as number | bigint | boolean)), true);
  return new Uint8Array(scratch.buffer.slice(0));
}

class Block {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #data: DataView<ArrayBuffer>;
  readonly address: bigint;

  constructor(runtime: NativeRuntime, stackWords: number) {
    this.#bytes = new Uint8Array(BLOCK_SIZE + stackWords * 8);
    this.#data = new DataView(this.#bytes.buffer);
    this.address = runtime.addressOf(this.#bytes);
    this.setWord(STACK_WORDS, BigInt(stackWords));
    this.setWord(STACK, this.address + BigInt(BLOCK_SIZE));
  }

  setWord(offset: number, value: bigint): void {
    this.#data.setBigUint64(offset, value, true);
  }

  /** Puts an argument where it belongs. */
  put(place: ArgumentPlace, bytes: Uint8Array): void {
    if (place.stackOffset !== undefined) {
      // A scalar takes its own bytes where they are packed, and may take the whole word elsewhere.
      this.#bytes.set(bytes.subarray(0, place.stackSize), BLOCK_SIZE + place.stackOffset);
      return;
    }
    const pieces = place.pieces ?? [{ offset: 0, type: place.kind === "value" ? place.type ?? "u64" : "u64" }];
    let integer = 0;
    let float = 0;
    for (const { offset, type } of pieces) {
      const at = isFloat(type)
        ? FLOATS + (place.floats[float++] ?? 0) * 8
        : INTEGERS + (place.integers[integer++] ?? 0) * 8;
      const width = type === "f32" ? 4 : 8;
      this.#bytes.set(bytes.subarray(offset, offset + width), at);
    }
  }

  /** A scalar result. */
  scalar(type: Scalar | undefined, pointer: boolean): unknown {
    if (type === undefined) return undefined;
    if (type === "f32") return this.#data.getFloat32(RESULT_FLOATS, true);
    if (type === "f64") return this.#data.getFloat64(RESULT_FLOATS, true);
    const word = this.#data.getBigUint64(RESULT_INTEGERS, true);
    if (type === "bool") return (word & 255n) !== 0n;
    const bits = SCALAR_SIZE[type] * 8;
    const value = type.startsWith("i") ? BigInt.asIntN(bits, word) : BigInt.asUintN(bits, word);
    if (bits === 64) return pointer && value === 0n ? null : value;
    return Number(value);
  }

  /** A struct result from its registers. */
  take(pieces: readonly Piece[], into: Uint8Array): void {
    let integer = 0;
    let float = 0;
    for (const { offset, type } of pieces) {
      const at = isFloat(type) ? RESULT_FLOATS + 8 * float++ : RESULT_INTEGERS + 8 * integer++;
      const width = Math.min(type === "f32" ? 4 : 8, into.length - offset);
      into.set(this.#bytes.subarray(at, at + width), offset);
    }
  }
}

function isFloat(type: Scalar): boolean {
  return type === "f32" || type === "f64";
}
