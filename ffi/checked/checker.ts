import { show } from "../../base/check.ts";
import { InvalidArgumentError } from "../../base/errors.ts";
import { lazyFunctions } from "../call/lazy_functions.ts";
import type { LibFunction } from "../call/caller.ts";
import type { Native } from "../native.ts";
import { type Requirements, requirementsOf } from "../requirements/mod.ts";
import type { FunctionShape, Parameter } from "../requirements/parameters.ts";
import { type Lib, structLayout, type StructName } from "../tables.ts";
import { structLayouts } from "../tables/struct_layouts.ts";
import type { Pointer } from "../types/pointer.ts";
import { checkArguments } from "./arguments.ts";
import { NativeObjects } from "./objects.ts";
import { TensorFacts } from "./tensor_facts.ts";
import { type CheckedCall, vocabulary } from "./vocabulary.ts";

type Values = readonly unknown[];
type Condition = (...values: Values) => unknown;

/** The requirements of a function, ready to be checked. */
interface CompiledRule {
  readonly shape: FunctionShape;
  readonly conditions: readonly { readonly text: string; readonly holds: Condition }[];
  /** For each parameter the struct whose fields conditions read, given as memory. */
  readonly structs: readonly (StructName | undefined)[];
}

/** Checks each call of a thread before it is made. */
export class Checker {
  /** The functions, each checked before it is called. */
  readonly lib: Lib;
  readonly #native: Native;
  readonly #plain: Lib;
  readonly #objects = new NativeObjects();
  readonly #call: CheckedCall = { name: "", named: {}, pointees: [] };
  readonly #rules = new Map<string, CompiledRule>();
  readonly #words: Readonly<Record<string, unknown>>;

  /** A checker of functions that check nothing. */
  constructor(native: Native, plain: Lib) {
    this.#native = native;
    this.#plain = plain;
    this.#words = vocabulary({ native, lib: plain, objects: this.#objects, call: this.#call });
    this.lib = lazyFunctions((name) => this.#checked(name)) as unknown as Lib;
  }

  /**
   * Checks the arguments of a call and makes none. Throws InvalidArgumentError, which names the function, the argument and what would be right, or
   * DisposedError for an object that was freed.
   */
  check(name: string, values: Values): void {
    this.#check(this.#rule(name), values);
  }

  /** The kind of the living object at an address; `undefined` where no checked call made one. */
  knows(address: bigint): string | undefined {
    const object = this.#objects.at(address);
    return object?.freedBy === undefined ? object?.kind : undefined;
  }

  #checked(name: string): LibFunction | undefined {
    const plain =
      (this.#plain as unknown as Readonly<Record<string, ((...values: Values) => unknown) | undefined>>)[name];
    if (plain === undefined) return undefined;
    const rule = this.#rule(name);
    return (...values: Values) => {
      this.#check(rule, values);
      const result = plain(...values);
      this.#objects.after(rule.shape, values, result);
      return result;
    };
  }

  #rule(name: string): CompiledRule {
    let rule = this.#rules.get(name);
    if (rule === undefined) {
      const requirements = requirementsOf(name);
      const conditions = requirements.conditions.map((text) => ({ text, holds: this.#compile(text, requirements) }));
      const { shape } = requirements;
      const structs = shape.parameters.map(({ name, code, pointee = "" }) =>
        code === "d" && Object.hasOwn(structLayouts, pointee) &&
          conditions.some(({ text }) => new RegExp(`\\b${name}\\.`).test(text))
          ? pointee as StructName
          : undefined
      );
      this.#rules.set(name, rule = { shape, conditions, structs });
    }
    return rule;
  }

  #check(rule: CompiledRule, values: Values): void {
    checkArguments(rule.shape, values, this.#objects);
    if (rule.conditions.length > 0) this.#checkConditions(rule, values);
  }

  /** A condition as a function of the arguments. Only text of the rules gets into its source. */
  #compile(text: string, { shape }: Requirements): Condition {
    const parameters = shape.parameters.map(({ name }) => name);
    const words = Object.keys(this.#words).filter((name) => !parameters.includes(name));
    const made = new Function(...words, `return function (${parameters.join(", ")}) { return ${text}; };`);
    return made(...words.map((name) => this.#words[name])) as Condition;
  }

  #checkConditions({ shape, conditions, structs }: CompiledRule, values: Values): void {
    const seen = shape.parameters.map((parameter, index) => this.#seen(parameter, structs[index], values[index]));
    this.#call.name = shape.name;
    this.#call.pointees = shape.parameters.map(({ pointee }) => pointee);
    this.#call.named = Object.fromEntries(shape.parameters.map(({ name }, index) => [name, seen[index]]));
    for (const { text, holds } of conditions) {
      if (this.#holds(holds, seen)) continue;
      const at = shape.parameters.map(({ name }, index) => ({ name, index })).filter(({ name }) =>
        new RegExp(`\\b${name}\\b`).test(text)
      );
      const given = at.map(({ name, index }) => `${name} is ${shown(seen[index])}`).join(", ");
      throw new InvalidArgumentError(`${shape.name} requires ${text}${given === "" ? "" : `; ${given}`}`, {
        value: values[at[0]?.index ?? 0],
        expected: text,
      });
    }
  }

  #holds(condition: Condition, seen: Values): boolean {
    try {
      return Boolean(condition(...seen));
    } catch (error) {
      // An operand that a condition goes by isn't there.
      if (error instanceof TypeError) return false;
      throw error;
    }
  }

  /** An argument as conditions see it. */
  #seen({ code, pointee }: Parameter, struct: StructName | undefined, value: unknown): unknown {
    if (value === 0n && /^[pdsc]/.test(code)) return null;
    if (struct !== undefined && value instanceof Uint8Array) {
      return this.#native.structFrom(struct, value.subarray(0, structLayout(struct).size));
    }
    if (typeof value !== "bigint") return value;
    if (/^[iu]/.test(code)) return Number(value);
    if (pointee === "ggml_tensor" && code === "p") {
      return new TensorFacts(this.#native, this.#plain, value as Pointer<"ggml_tensor">);
    }
    return struct === undefined ? value : this.#native.structAt(struct, value as never);
  }
}

function shown(value: unknown): string {
  if (value instanceof TensorFacts) return value.toString();
  return ArrayBuffer.isView(value) ? `memory of ${value.byteLength} bytes` : show(value);
}
