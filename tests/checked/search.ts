/** Looks for calls that break each condition of a function, those before it kept. */

import { InvalidArgumentError } from "../../base/errors.ts";
import * as enums from "../../ffi/tables/enums.ts";
import { owners } from "../../ffi/checked/ownership.ts";
import { requirementsOf } from "../../ffi/requirements/mod.ts";
import type { Parameter } from "../../ffi/requirements/parameters.ts";
import { type DefaultsName, structDefaults } from "../../ffi/tables/defaults.ts";
import { structLayout } from "../../ffi/tables.ts";
import { structLayouts } from "../../ffi/tables/struct_layouts.ts";
import type { StructName } from "../../ffi/mod.ts";
import { randomBelow } from "../support/random.ts";
import { tensorTypes, type World } from "./world.ts";

const integers = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 64, 256, 512, 576, 600, 2 ** 20, 2 ** 31 - 1];
const floats = [-1, 0, 0.5, 1, 2];
const texts = ["", "a", "general.alignment", "missing"];
const lengths = [1, 2, 4, 8, 16, 32, 64, 256, 4096];
const sizes = [1, 1, 2, 3, 4, 8, 24, 32, 64];
/** Tries after which a search begins anew. */
const ROUNDS = 4000;
/** Where there is no object of a kind: an address that no check reads. */
const ELSEWHERE = 1n << 40n;

/** What one search found. */
export interface Search {
  /** The conditions that a call broke. */
  readonly broken: ReadonlySet<string>;
  /** Whether a call kept all. */
  readonly kept: boolean;
  /** Whether there is no object of a kind that the function takes. */
  readonly isMissing: boolean;
}

/** Searches with calls that are checked and not made. */
export class ConditionSearch {
  readonly #world: World;
  readonly #random: (limit: number) => number;

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#random = randomBelow(seed);
  }

  /** Breaks as many conditions as some tries can. `skip` are those that need not be; `mayBeKept` is whether a call that keeps all is looked for. */
  search(name: string, tries: number, skip: (condition: string) => boolean, mayBeKept: boolean): Search {
    const { shape: { parameters }, conditions } = requirementsOf(name);
    if (parameters.some((one) => this.#isMissing(one))) return { broken: new Set(), kept: false, isMissing: true };
    const broken = new Set<string>();
    let kept = false;
    let values = parameters.map((one) => this.#value(one));
    let reached = -1;
    for (let round = 0; round < tries; round++) {
      if ((kept || !mayBeKept) && conditions.every((one) => broken.has(one) || skip(one))) break;
      const isFresh = round % ROUNDS === ROUNDS - 1;
      const next = isFresh ? parameters.map((one) => this.#value(one)) : this.#changed(parameters, values);
      const failed = this.#firstBroken(name, next);
      const at = failed === undefined ? conditions.length : conditions.indexOf(failed);
      if (failed === undefined) kept = true;
      else broken.add(failed);
      if (at >= reached || isFresh || this.#random(200) === 0) [values, reached] = [next, at];
    }
    return { broken, kept, isMissing: false };
  }

  #isMissing({ code, pointee = "", isNullable }: Parameter): boolean {
    return code === "p" && !isNullable && owners[pointee] !== undefined &&
      (this.#world.objects[pointee] ?? []).length === 0;
  }

  #firstBroken(name: string, values: readonly unknown[]): string | undefined {
    try {
      this.#world.checker.check(name, values);
      return undefined;
    } catch (error) {
      if (!(error instanceof InvalidArgumentError) || !error.message.startsWith(`${name} requires `)) {
        throw new Error(`${name}(${values.map(String).join(", ")})`, { cause: error });
      }
      return error.expected;
    }
  }

  #changed(parameters: readonly Parameter[], values: readonly unknown[]): unknown[] {
    const count = 1 + this.#random(2);
    const places = new Set(Array.from({ length: count }, () => this.#random(parameters.length)));
    return values.map((value, at) => {
      const parameter = parameters[at];
      if (parameter === undefined || !places.has(at)) return value;
      const same = parameters.findIndex((other, index) =>
        index !== at && other.pointee === parameter.pointee && other.code === parameter.code && values[index] !== null
      );
      if (parameter.pointee !== undefined && same >= 0 && this.#random(4) === 0) return values[same];
      return parameter.pointee === "ggml_tensor" && this.#random(2) === 0
        ? this.#tensorLike(values)
        : this.#value(parameter);
    });
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)] as T;
  }

  /** A tensor whose sizes are those of other operands, or nearly. */
  #tensorLike(values: readonly unknown[]): bigint {
    const { native } = this.#world;
    const tensors = values.filter((value): value is bigint =>
      typeof value === "bigint" && this.#world.checker.knows(value) === "ggml_tensor"
    );
    const known = tensors.map((address) => Array.from(native.structAt("ggml_tensor", address as never).ne, Number));
    const given = values.flatMap((value) =>
      typeof value === "number" || typeof value === "bigint" && value < 1000n ? [Number(value)] : []
    );
    const pool = [...known.flat(), ...known.flat().map((size) => 4 * size), ...given, ...sizes].filter((size) =>
      Number.isInteger(size) && size > 0 && size <= 64
    );
    const base = known.length > 0 && this.#random(3) > 0 ? [...this.#pick(known)] : [1, 1, 1, 1];
    for (let count = this.#random(3); count > 0; count--) base[this.#random(4)] = this.#pick(pool);
    if (this.#random(4) === 0) base[3] = 1;
    const type = this.#random(3) > 0 ? tensorTypes[0] : this.#pick(tensorTypes);
    if (type === undefined) return ELSEWHERE;
    const block = Number(native.lib.ggml_blck_size(type));
    const make = this.#random(4) === 0 && block === 1 ? this.#world.transposed : this.#world.tensor;
    return make(type, [Math.ceil((base[0] ?? 1) / block) * block, ...base.slice(1)]);
  }

  #value({ code, isNullable, pointee, enumName }: Parameter): unknown {
    if (enumName !== undefined) {
      return this.#pick(Object.values((enums as unknown as Record<string, Record<string, number>>)[enumName] ?? {}));
    }
    if (code.startsWith("{")) return this.#struct(code.slice(1, -1) as StructName);
    if (code === "b") return this.#random(2) === 0;
    if (code.startsWith("f")) return this.#pick(floats);
    if (/^[iu]/.test(code)) return this.#integer(code);
    if (isNullable && this.#random(3) === 0) return null;
    if (code === "s") return this.#pick(texts);
    if (code === "d") return this.#memory(pointee);
    return this.#object(pointee);
  }

  #integer(code: string): number | bigint {
    const fitting = integers.filter((value) =>
      (value >= 0 || code.startsWith("i")) && (!code.endsWith("8") && !code.endsWith("16") || value < 128)
    );
    const value = this.#random(2) === 0
      ? this.#random(4)
      : this.#pick(code.endsWith("64") ? [...fitting, 2 ** 50] : fitting);
    return code.endsWith("64") ? BigInt(value) : value;
  }

  #object(pointee: string | undefined): bigint {
    const { objects } = this.#world;
    const among = [...objects[pointee ?? "addresses"] ?? []];
    if (pointee === "ggml_tensor") {
      if (this.#random(3) === 0) return this.#tensorLike([]);
      among.push(...objects["placed"] ?? [], ...objects["named"] ?? []);
    }
    return among.length === 0 ? ELSEWHERE + BigInt(this.#random(2) * 8) : this.#pick(among);
  }

  #memory(pointee: string | undefined): unknown {
    const length = this.#pick(lengths);
    if (pointee !== undefined && Object.hasOwn(structLayouts, pointee)) {
      const { size } = structLayout(pointee);
      return this.#random(4) === 0 ? new Uint8Array(Math.max(length, size)) : this.#struct(pointee as StructName);
    }
    if (pointee?.endsWith("*")) {
      const among = this.#world.objects[pointee.slice(0, -1)] ?? [];
      return BigUint64Array.from(
        { length: Math.ceil(length / 8) },
        () => among.length === 0 || this.#random(8) === 0 ? 0n : this.#pick(among),
      );
    }
    if (this.#random(8) === 0) return new Uint8Array(length);
    if (pointee === "int64_t") {
      return BigInt64Array.from({ length: Math.ceil(length / 8) }, () => BigInt(this.#pick(sizes)));
    }
    if (pointee === "int" || pointee?.endsWith("_token") || pointee === "int32_t") {
      return Int32Array.from({ length: Math.ceil(length / 4) }, () => this.#pick(integers));
    }
    return new Uint8Array(length);
  }

  /** A struct with its defaults, some of whose numbers and pointers are others. */
  #struct(name: StructName): object {
    const { native } = this.#world;
    const view = Object.hasOwn(structDefaults, name) ? native.defaults(name as DefaultsName) : native.struct(name);
    const fields = Object.keys(Object.getPrototypeOf(view) as object);
    const target = view as unknown as Record<string, unknown>;
    for (let count = this.#random(4 + 2 * (fields.length < 12 ? fields.length : 0)); count > 0; count--) {
      this.#setField(target, this.#pick(fields));
    }
    return view;
  }

  #setField(target: Record<string, unknown>, field: string): void {
    try {
      this.#setTo(target, field);
    } catch (error) {
      // Not every number fits every field.
      if (!(error instanceof InvalidArgumentError)) throw error;
    }
  }

  #setTo(target: Record<string, unknown>, field: string): void {
    const value = target[field];
    if (typeof value === "number") target[field] = this.#pick([...integers, 0.5]);
    else if (typeof value === "bigint" || value === null) target[field] = this.#pointerOrSize(field);
    else if (typeof value === "boolean") target[field] = !value;
    else if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
      const inner = value as Record<string, unknown>;
      this.#setField(inner, this.#pick(Object.keys(Object.getPrototypeOf(inner) as object)));
    }
  }

  #pointerOrSize(field: string): unknown {
    if (/size$|^offset$/.test(field)) return BigInt(this.#pick([0, 1, 64, 2 ** 20]));
    if (field === "mem_buffer") return this.#pick([null, new Uint8Array(64), new Uint8Array(64).subarray(1)]);
    if (field === "buffer") return this.#pick(this.#world.objects["ggml_backend_buffer"] ?? []);
    return this.#pick([
      null,
      Int32Array.from({ length: 600 }, () => this.#random(2)),
      new Int32Array(600).fill(60_000),
    ]);
  }
}
