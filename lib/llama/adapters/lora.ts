import type { Pointer } from "../../../ffi/types/pointer.ts";
import { DisposedError, InvalidArgumentError, LoraError } from "../../errors.ts";
import type { GgufHeader, GgufTensorInfo } from "../../gguf/header.ts";
import { checkArray, isArray, isPlainObject, refuse as refuseValue, show } from "../../../base/check.ts";
import { definePicture } from "../../../base/inspect.ts";
import { custom, number, options, type RulesOf } from "../../../base/options.ts";

/** Facts about an adapter. Plain data. */
export interface LoraInfo {
  /** The path of the file. */
  path: string;
  /** The name that its makers gave it. C: `general.name`. */
  name: string | undefined;
  /** The scaling factor: the effect is multiplied by alpha / rank; 0 means 1. C: `adapter.lora.alpha`. */
  alpha: number;
  /** The largest rank of its matrices. */
  rank: number;
  /** The number of the model's tensors that it changes. */
  tensorCount: number;
  /** Tensors of the file that llama.cpp ignores: norms. */
  ignoredTensors: string[];
}

/** An adapter with its scale. */
export interface LoraUse {
  /** The adapter. */
  readonly adapter: Lora;
  /** The scale: 0 has no effect, a negative one the opposite effect. -1000 to 1000, default 1. */
  readonly scale?: number | undefined;
}

/** Adapters for one request: one, or several whose effects add up. */
export type LoraOption = Lora | LoraUse | readonly (Lora | LoraUse)[];

/** A checked adapter of a request. */
export interface LoraSetting {
  /** The adapter. */
  readonly adapter: Lora;
  /** The scale. */
  readonly scale: number;
}

/** An adapter on the native thread. Plain data. */
export interface LoraData {
  /** The adapter. */
  readonly pointer: Pointer<"llama_adapter_lora">;
  /** The scale. */
  readonly scale: number;
}

const MAX_ADAPTERS = 64;

type LoraPointer = Pointer<"llama_adapter_lora">;
let create: (owner: object, pointer: LoraPointer, info: LoraInfo, free: () => Promise<void>) => Lora;
let isLora: (value: unknown) => value is Lora;
let pointerFor: (lora: Lora, owner: object) => LoraPointer;

/**
 * A LoRA adapter that was loaded for a model. Made by `model.loadLora`. It applies to the requests that name it in their option `lora`; each request may
 * use other adapters and scales. It is freed with its model at the latest.
 */
export class Lora implements AsyncDisposable {
  static {
    create = (owner, pointer, info, free) => new Lora(owner, pointer, info, free);
    pointerFor = (lora, owner) => lora.#pointerFor(owner);
    isLora = (value): value is Lora => typeof value === "object" && value !== null && #owner in value;
    definePicture(
      Lora,
      "Lora",
      ({ info, disposed }) => `${info.name ?? info.path}, rank ${info.rank}${disposed ? " (disposed)" : ""}`,
    );
  }

  readonly #owner: object;
  readonly #free: () => Promise<void>;
  #pointer: Pointer<"llama_adapter_lora"> | undefined;
  #disposed: Promise<void> | undefined;
  /** Facts about the adapter. */
  readonly info: Readonly<LoraInfo>;

  private constructor(
    owner: object,
    pointer: Pointer<"llama_adapter_lora">,
    info: LoraInfo,
    free: () => Promise<void>,
  ) {
    this.#owner = owner;
    this.#pointer = pointer;
    this.#free = free;
    this.info = Object.freeze(info);
  }

  #pointerFor(owner: object): Pointer<"llama_adapter_lora"> {
    if (this.#pointer === undefined) {
      throw new DisposedError(`the adapter ${this.info.path} was disposed; load it again`, {
        value: this.info.path,
        expected: "an adapter that is loaded",
      });
    }
    if (owner === this.#owner) return this.#pointer;
    throw new InvalidArgumentError(
      `the adapter ${this.info.path} was loaded for another model; load it by this model's loadLora`,
      { value: this.info.path, expected: "an adapter of this model" },
    );
  }

  /** Whether {@linkcode Lora.dispose} was called. */
  get disposed(): boolean {
    return this.#disposed !== undefined;
  }

  /** Frees the adapter, after the requests that were asked for before. */
  dispose(): Promise<void> {
    this.#pointer = undefined;
    return this.#disposed ??= this.#free();
  }

  /** Calls {@linkcode Lora.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** Returns an adapter of a model. */
export function createLora(...parts: Parameters<typeof create>): Lora {
  return create(...parts);
}

/** Returns where an adapter is. Throws {@linkcode DisposedError} after a dispose, and {@linkcode InvalidArgumentError} for another model than its own. */
export function loraPointer(lora: Lora, owner: object): Pointer<"llama_adapter_lora"> {
  return pointerFor(lora, owner);
}

/** The words for a value of `lora` that is right. */
export const LORA_WORDS =
  `an adapter by model.loadLora, { adapter, scale }, or an array of at most ${MAX_ADAPTERS} of them`;

const useSpec = options(
  "lora",
  {
    adapter: custom("an adapter by model.loadLora", checkIsLora, { required: true }),
    scale: number({ min: -1000, max: 1000, default: 1 }),
  } satisfies RulesOf<LoraUse>,
);

/** Checks the option `lora`. Throws {@linkcode InvalidArgumentError}. */
export function checkLora(name: string, value: unknown): readonly LoraSetting[] {
  const settings = isArray(value)
    ? checkArray(name, value, checkUse, { min: 0, max: MAX_ADAPTERS })
    : [checkUse(name, value)];
  const twice = settings.find(({ adapter }, index) => settings.findIndex((other) => other.adapter === adapter) < index);
  if (twice === undefined) return settings;
  throw new InvalidArgumentError(`${name} has the adapter ${twice.adapter.info.path} twice; add the scales up`, {
    value: twice.adapter.info.path,
    expected: "each adapter once",
  });
}

function checkUse(name: string, value: unknown): LoraSetting {
  if (isLora(value)) return { adapter: value, scale: 1 };
  return isPlainObject(value) ? useSpec.checkAt(name, value) : refuseValue(name, value, LORA_WORDS);
}

function checkIsLora(name: string, value: unknown): Lora {
  return isLora(value) ? value : refuseValue(name, value, "an adapter by model.loadLora");
}

/**
 * Checks the header of an adapter against the header of its model: what llama.cpp would abort at, or refuse without a reason. Throws {@linkcode LoraError}.
 */
export function checkAdapter(path: string, adapter: GgufHeader, model: GgufHeader): LoraInfo {
  const text = (key: string): unknown => adapter.metadata.get(key);
  const must = (key: string, expected: unknown): void => {
    if (text(key) === expected) return;
    const hint = key === "general.architecture" ? "; it was made for another model" : "";
    throw new LoraError(`${path} isn't a LoRA adapter for this model: ${key} is ${show(text(key))}${hint}`, {
      value: text(key),
      expected: show(expected),
    });
  };
  must("general.type", "adapter");
  must("adapter.type", "lora");
  must("general.architecture", model.metadata.get("general.architecture"));
  const alpha = checkAlpha(path, adapter);
  if (adapter.metadata.has("adapter.alora.invocation_tokens")) {
    throw new LoraError(`${path} is an activated LoRA, which takes effect only after certain tokens; use a plain one`, {
      value: "adapter.alora.invocation_tokens",
      expected: "a LoRA without invocation tokens",
    });
  }
  const { pairs, ignored } = pairsOf(path, adapter.tensors);
  const base = new Map(model.tensors.map((tensor) => [tensor.name, tensor]));
  const tied = !base.has("output.weight");
  let rank = 0;
  for (const [name, pair] of pairs) rank = Math.max(rank, checkPair(path, name, pair, base.get(name), tied));
  const name = text("general.name");
  return {
    path,
    name: typeof name === "string" ? name : undefined,
    alpha,
    rank,
    tensorCount: pairs.size,
    ignoredTensors: ignored,
  };
}

function checkAlpha(path: string, { metadata, locations }: GgufHeader): number {
  const alpha = metadata.get("adapter.lora.alpha");
  if (alpha === undefined) return 0;
  // llama.cpp aborts when it is of another type.
  const type = locations.get("adapter.lora.alpha")?.type;
  if (typeof alpha === "number" && Number.isFinite(alpha) && type === "float32") return alpha;
  throw new LoraError(
    `${path} has ${show(alpha)} of type ${type} as adapter.lora.alpha, not a finite number of type float32`,
    {
      value: alpha,
      expected: "a finite number of type float32",
    },
  );
}

interface Pair {
  a?: GgufTensorInfo;
  b?: GgufTensorInfo;
}

function pairsOf(
  path: string,
  tensors: readonly GgufTensorInfo[],
): { pairs: Map<string, Required<Pair>>; ignored: string[] } {
  const pairs = new Map<string, Pair>();
  const ignored: string[] = [];
  for (const tensor of tensors) {
    const found = /^(.+)\.lora_([ab])$/.exec(tensor.name);
    const [, name = "", which = ""] = found ?? [];
    if (found !== null && !name.includes(".lora_")) {
      const pair = pairs.get(name) ?? {};
      pair[which === "a" ? "a" : "b"] = tensor;
      pairs.set(name, pair);
    } else if (tensor.name.endsWith("_norm.weight")) ignored.push(tensor.name);
    else refuse(path, tensor.name, "isn't a matrix of a LoRA", "names that end in .lora_a and .lora_b");
  }
  if (pairs.size === 0) refuse(path, "it", "has no matrices", "at least one pair of matrices");
  for (const [name, { a, b }] of pairs) {
    if (a === undefined || b === undefined) {
      refuse(path, name, `has no .lora_${a === undefined ? "a" : "b"}`, "both matrices of each pair");
    }
  }
  return { pairs: pairs as Map<string, Required<Pair>>, ignored };
}

/** Returns the rank of a pair of matrices. Throws {@linkcode LoraError} when the shapes don't match. */
function checkPair(
  path: string,
  name: string,
  { a, b }: Required<Pair>,
  base: GgufTensorInfo | undefined,
  tied: boolean,
): number {
  if (base === undefined) {
    return refuse(
      path,
      name,
      "isn't a tensor of this model: the adapter was made for another model",
      "tensors of this model",
    );
  }
  const at = (tensor: GgufTensorInfo, dimension: number): number => tensor.shape[dimension] ?? 1;
  const isEmbedding = name.endsWith("token_embd.weight");
  // Rows of the embedding are looked up, so its first matrix is transposed.
  if (isEmbedding && tied) {
    // llama.cpp would use the pair for the output too, transposed, and abort.
    return refuse(path, name, "changes the embedding of a model whose output is the same tensor", "a LoRA without it");
  }
  const [input, rank, output] = isEmbedding
    ? [at(a, 1) === at(base, 1), at(a, 0), at(b, 1) === at(base, 0)]
    : [at(a, 0) === at(base, 0), at(a, 1), at(b, 1) === at(base, 1)];
  const deep = [2, 3].every((dimension) =>
    at(a, dimension) === at(b, dimension) && at(a, dimension) === at(base, dimension)
  );
  if (input && output && deep && rank === at(b, 0) && rank > 0) return rank;
  const shapes = `${a.shape.join("×")} and ${b.shape.join("×")}`;
  return refuse(
    path,
    name,
    `has shapes ${shapes}, which don't match ${base.shape.join("×")}`,
    "shapes that match the model's",
  );
}

function refuse(path: string, name: string, what: string, expected: string): never {
  throw new LoraError(`${path} isn't a LoRA adapter for this model: ${name} ${what}`, { value: name, expected });
}
