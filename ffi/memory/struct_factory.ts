import { DisposedError, InvalidArgumentError } from "../../base/errors.ts";
import type { NativeRuntime, Scalar } from "../runtime/types.ts";
import { scalarAccess } from "./scalar_access.ts";
import {
  type FieldArray,
  type FieldLayout,
  type FieldType,
  isArray,
  isStruct,
  type LayoutOf,
  SCALAR_SIZE,
  sizeOf,
  type StructLayout,
} from "../types/signature.ts";

/** The owner of memory: asked before each access to a view that was made with it whether the memory is still there. */
export interface Owner {
  /** Throws (a DisposedError, say) when the memory is gone. */
  assertAlive(): void;
}

const memory: unique symbol = Symbol("memory");

/** The memory behind a view. */
interface Memory {
  readonly layout: StructLayout;
  readonly data: DataView<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly owner: Owner | undefined;
  /** The memory that pointer fields point to, kept alive as long as the view. */
  kept: Map<string, unknown> | undefined;
  /** The bytes as words, where they are aligned and padded. */
  words: BigUint64Array<ArrayBuffer> | undefined;
  /** Views of nested structs and arrays, made once. */
  nested: Map<string, unknown> | undefined;
}

/** An object whose fields are a struct's. */
export interface AnyStruct {
  [memory]: Memory;
}

type ViewClass = new (memory: Memory) => AnyStruct;

/** Makes views of structs. Classes are made once for each struct, on its first view. */
export class StructFactory {
  readonly #runtime: NativeRuntime;
  readonly #layoutOf: LayoutOf;
  readonly #classes = new Map<string, ViewClass>();

  /** A factory for one runtime and one set of layouts. */
  constructor(runtime: NativeRuntime, layoutOf: LayoutOf) {
    this.#runtime = runtime;
    this.#layoutOf = layoutOf;
  }

  /** A zeroed struct in JavaScript memory. */
  make(name: string): AnyStruct {
    const layout = this.#layoutOf(name);
    return this.over(layout, new ArrayBuffer(Math.ceil(layout.size / 8) * 8), 0, undefined);
  }

  /** `count` zeroed structs in a row in JavaScript memory. */
  makeArray(name: string, count: number): AnyStruct[] {
    const layout = this.#layoutOf(name);
    const buffer = new ArrayBuffer(Math.max(8, Math.ceil((layout.size * count) / 8) * 8));
    return Array.from({ length: count }, (_, index) => this.over(layout, buffer, index * layout.size, undefined));
  }

  /** A view of native memory. */
  at(name: string, address: bigint, owner: Owner | undefined): AnyStruct {
    const layout = this.#layoutOf(name);
    return this.over(layout, this.#runtime.memory(address, layout.size), 0, owner);
  }

  /** A struct in JavaScript memory that holds a copy of these bytes. Throws InvalidArgumentError when their count is wrong. */
  from(name: string, bytes: Uint8Array): AnyStruct {
    const view = this.make(name);
    const own = view[memory].bytes;
    if (bytes.length !== own.length) {
      throw new InvalidArgumentError(`${bytes.length} bytes are no ${name}`, {
        value: bytes.length,
        expected: `${own.length} bytes`,
      });
    }
    own.set(bytes);
    return view;
  }

  /** A view of part of a buffer. */
  over(layout: StructLayout, buffer: ArrayBuffer, offset: number, owner: Owner | undefined): AnyStruct {
    return new (this.#classOf(layout))({
      layout,
      data: new DataView(buffer, offset, layout.size),
      bytes: new Uint8Array(buffer, offset, layout.size),
      owner,
      kept: undefined,
      words: undefined,
      nested: undefined,
    });
  }

  /** The address of a view's memory. */
  addressOf(view: AnyStruct): bigint {
    return this.#runtime.addressOf(view[memory].bytes);
  }

  #classOf(layout: StructLayout): ViewClass {
    let known = this.#classes.get(layout.name);
    if (known === undefined) {
      known = this.#makeClass(layout);
      this.#classes.set(layout.name, known);
    }
    return known;
  }

  #makeClass(layout: StructLayout): ViewClass {
    const made = class {
      [memory]: Memory;
      constructor(behind: Memory) {
        this[memory] = behind;
        // A field that isn't there is refused, not kept beside the struct.
        Object.preventExtensions(this);
      }
      /** JSON has no bigint: what is one becomes text. */
      toJSON(): Record<string, unknown> {
        return Object.fromEntries(layout.fields.map(({ name }) => {
          const value = (this as Record<string, unknown>)[name];
          return [name, ArrayBuffer.isView(value) ? Array.from(value as Int32Array, portable) : portable(value)];
        }));
      }
    };
    Object.defineProperty(made, "name", { value: layout.name });
    for (const field of layout.fields) Object.defineProperty(made.prototype, field.name, this.#accessor(field));
    return made;
  }

  #accessor(field: FieldLayout): PropertyDescriptor {
    const { type, offset, name } = field;
    if (isArray(type)) return this.#arrayAccessor(name, offset, type);
    if (isStruct(type)) return this.#nestedAccessor(name, offset, type.struct);
    if (type === "pointer") return this.#pointerAccessor(name, offset);
    return scalarAccessor(type, name, offset);
  }

  #pointerAccessor(name: string, offset: number): PropertyDescriptor {
    const address = (value: unknown): bigint => this.addressOfValue(value);
    return {
      enumerable: true,
      get(this: AnyStruct): bigint | null {
        const value = alive(this).data.getBigUint64(offset, true);
        return value === 0n ? null : value;
      },
      set(this: AnyStruct, value: unknown) {
        const behind = alive(this);
        behind.data.setBigUint64(offset, address(value), true);
        if (typeof value === "object" && value !== null) (behind.kept ??= new Map()).set(name, value);
        else behind.kept?.delete(name);
      },
    };
  }

  /** The address that a pointer field or parameter stands for: of a pointer itself, a buffer, or a struct view; 0 for null. */
  addressOfValue(value: unknown): bigint {
    if (typeof value === "bigint") return value;
    if (value === null || value === undefined) return 0n;
    if (ArrayBuffer.isView(value)) return this.#runtime.addressOf(value);
    if (isView(value)) return this.addressOf(value);
    throw new InvalidArgumentError(`expected a pointer, got ${typeof value}`, {
      value,
      expected: "a pointer (bigint), null, a typed array or a struct view",
    });
  }

  #nestedAccessor(name: string, offset: number, struct: string): PropertyDescriptor {
    const make = (behind: Memory): AnyStruct => {
      const { buffer, byteOffset } = behind.data;
      return this.over(this.#layoutOf(struct), buffer, byteOffset + offset, behind.owner);
    };
    return {
      enumerable: true,
      get(this: AnyStruct): unknown {
        return nested(alive(this), name, make);
      },
      set(this: AnyStruct, value: AnyStruct) {
        const own = nested(alive(this), name, make) as AnyStruct;
        own[memory].bytes.set(bytesOf(value));
      },
    };
  }

  #arrayAccessor(name: string, offset: number, type: FieldArray): PropertyDescriptor {
    const make = (behind: Memory): unknown => this.#array(behind, offset, type);
    return {
      enumerable: true,
      get(this: AnyStruct): unknown {
        return nested(alive(this), name, make);
      },
      set(this: AnyStruct, values: ArrayLike<never>) {
        const own = nested(alive(this), name, make) as { set?: (values: ArrayLike<never>) => void };
        if (own.set === undefined) {
          throw new InvalidArgumentError(`${name} is set element by element`, { value: values });
        }
        own.set(values);
      },
    };
  }

  #array(behind: Memory, offset: number, { of, length }: FieldArray): unknown {
    const { buffer, byteOffset } = behind.data;
    const at = byteOffset + offset;
    if (typeof of === "string" && of !== "bool" && at % elementSize(of) === 0) {
      return new (arrayClass(of))(buffer, at, length);
    }
    const step = sizeOf(of, this.#layoutOf);
    return Array.from({ length }, (_, index) => {
      if (isStruct(of)) return this.over(this.#layoutOf(of.struct), buffer, at + index * step, behind.owner);
      if (isArray(of)) return this.#array(behind, offset + index * step, of);
      return new Uint8Array(buffer, at + index * step, step);
    });
  }
}

function portable(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function elementSize(type: Exclude<FieldType, object>): number {
  return type === "pointer" ? 8 : SCALAR_SIZE[type];
}

function nested(behind: Memory, name: string, make: (behind: Memory) => unknown): unknown {
  const made = (behind.nested ??= new Map());
  let value = made.get(name);
  if (value === undefined) {
    value = make(behind);
    made.set(name, value);
  }
  return value;
}

function alive(view: AnyStruct): Memory {
  const behind = view[memory];
  if (behind.owner !== undefined) behind.owner.assertAlive();
  return behind;
}

/** Whether a value is a struct view. */
export function isView(value: unknown): value is AnyStruct {
  return typeof value === "object" && value !== null && memory in value;
}

/** The bytes behind a view, not copied. Throws InvalidArgumentError for anything else. */
export function bytesOf(view: unknown, struct?: string): Uint8Array<ArrayBuffer> {
  return checked(view, struct).bytes;
}

/** The bytes behind a view as words of 8; the last one is padded. */
export function wordsOf(view: unknown, struct: string): BigUint64Array<ArrayBuffer> {
  const behind = checked(view, struct);
  if (behind.words !== undefined) return behind.words;
  const { bytes } = behind;
  const count = Math.ceil(bytes.length / 8);
  const inPlace = bytes.byteOffset % 8 === 0 && bytes.byteOffset + count * 8 <= bytes.buffer.byteLength;
  if (inPlace) return behind.words = new BigUint64Array(bytes.buffer, bytes.byteOffset, count);
  const copy = new BigUint64Array(count);
  new Uint8Array(copy.buffer).set(bytes);
  return copy;
}

function checked(view: unknown, struct: string | undefined): Memory {
  if (!isView(view)) {
    throw new InvalidArgumentError(
      `expected a view of ${struct === undefined ? "a struct" : `struct ${struct}`}, got ${
        view === null ? "null" : typeof view
      }`,
      {
        value: view,
        expected: `a view made by struct(), structAt() or defaults()`,
      },
    );
  }
  const behind = alive(view);
  if (struct !== undefined && behind.layout.name !== struct) {
    throw new InvalidArgumentError(`a ${behind.layout.name} is no ${struct}`, {
      value: behind.layout.name,
      expected: struct,
    });
  }
  return behind;
}

/** An owner that is ended by one call, for views of memory that it owns. */
export class Lifetime implements Owner {
  #what: string | undefined;

  /** Whether it was ended. */
  get ended(): boolean {
    return this.#what !== undefined;
  }

  /** Names what owns the memory, for the error's message. */
  assertAlive(): void {
    if (this.#what !== undefined) {
      throw new DisposedError(`this view's memory went with ${this.#what}`, {
        value: this.#what,
        expected: "a view made after, or a copy made before",
      });
    }
  }

  /** Says that the memory is gone, and what took it. */
  end(what: string): void {
    this.#what = what;
  }
}

type ScalarArrayClass = new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView;

const arrayClasses: Readonly<Record<Exclude<Scalar, "bool"> | "pointer", ScalarArrayClass>> = {
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
  pointer: BigUint64Array,
};

function arrayClass(type: Exclude<Scalar, "bool"> | "pointer"): ScalarArrayClass {
  return arrayClasses[type];
}

function scalarAccessor(type: Scalar, name: string, offset: number): PropertyDescriptor {
  const { read, write, takes, expected } = scalarAccess[type];
  return {
    enumerable: true,
    get(this: AnyStruct): unknown {
      return read(alive(this).data, offset);
    },
    set(this: AnyStruct, value: never) {
      if (!takes(value)) {
        throw new InvalidArgumentError(`${name} can't be ${String(value)}; give ${expected}`, { value, expected });
      }
      write(alive(this).data, offset, value);
    },
  };
}
