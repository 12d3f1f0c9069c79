import { type ggml_tensor, Lifetime, type Native, type Pointer, type StructView } from "../../../ffi/mod.ts";
import { DisposedError, InvalidArgumentError } from "../../errors.ts";
import { brands } from "../brands.ts";
import type { GgmlContext } from "./context.ts";
import { ContextFullError, GraphError } from "./errors.ts";
import { HandedOut } from "./handed_out.ts";
import { Handle } from "./handle.ts";
import { measure } from "./measure.ts";
import { createTensor, type Tensor } from "./tensor.ts";

/** A function of ggml that makes a tensor in the context that it is given. */
export type TensorMaker = (context: Pointer<"ggml_context">) => Pointer<"ggml_tensor"> | null;

/** A native context, and what frees it. */
export interface ContextParts {
  /** Its address. */
  readonly pointer: Pointer<"ggml_context">;
  /** Frees it. */
  readonly free: (pointer: Pointer<"ggml_context">) => void;
}

/** A native context that something else made. */
export class AdoptedContext implements ContextParts {
  /** Its address. */
  readonly pointer: Pointer<"ggml_context">;
  /** Frees it. */
  readonly free: (pointer: Pointer<"ggml_context">) => void;

  /** Notes it. */
  constructor(pointer: Pointer<"ggml_context">, free: (pointer: Pointer<"ggml_context">) => void) {
    this.pointer = pointer;
    this.free = free;
  }
}

/** Lifetimes of other contexts that a tensor depends on. */
interface ForeignLifetimes {
  /** Those of the tensors that it was made of. */
  readonly sources: readonly Lifetime[];
  /** Those of the tensor whose memory it shows, for a view. */
  readonly view: readonly Lifetime[];
}

function sharesMemory(tensor: Tensor, root: Pointer<"ggml_tensor">): boolean {
  return tensor.unsafePointer === root || tensor.struct.view_src === root;
}

/** Notes the buffer of a view that was made after its tensor had memory: ggml notes the address alone, and nobody would know when it is gone. */
function attachView(native: Native, view: StructView<ggml_tensor>, root: Pointer<"ggml_tensor">): void {
  if (view.buffer === null && view.data !== null) view.buffer = native.structAt("ggml_tensor", root).buffer;
}

/** Tensors that a single function of ggml makes at most, with some to spare. */
const MAX_TENSORS_MADE = 16;

/** Internals of a {@linkcode GgmlContext}: memory, lifetimes, and who uses whom. */
export class ContextCore {
  /** The native context. */
  readonly handle: Handle<"ggml_context">;
  readonly #context: GgmlContext;
  readonly #native: Native;
  readonly #uses = new Map<GgmlContext, Lifetime>();
  /** What tensors of this context that were made of other contexts' need of these, by address. */
  readonly #foreign = new Map<Pointer<"ggml_tensor">, ForeignLifetimes>();
  #lifetime = new Lifetime();
  #last: Pointer<"ggml_tensor"> | null = null;
  #start: bigint | undefined;
  #end: bigint | undefined;
  readonly #views = new HandedOut();
  readonly #owned: Disposable[];
  /** The owner of the memory of its tensors: it lives as long as a tensor can be reached. */
  readonly #memory = new Set<object>();
  readonly #resetListeners = new Set<() => void>();
  /** Graphs of it that are being allocated just now. */
  #allocating = 0;

  /** Takes over a native context. */
  constructor(context: GgmlContext, native: Native, { pointer, free }: ContextParts) {
    const owned: Disposable[] = [];
    this.#context = context;
    this.#native = native;
    this.#owned = owned;
    this.handle = new Handle({
      what: "the context",
      pointer,
      free: (one) => {
        free(one);
        for (const resource of owned) resource[Symbol.dispose]();
      },
    });
  }

  /** Lifetime of its tensors, until it is disposed or reset. */
  get lifetime(): Lifetime {
    return this.#lifetime;
  }

  /**
   * Calls a function of ggml that makes tensors in this context, once there is known to be capacity for them, and wraps what it gives. The operators are
   * made with it. Throws ContextFullError, and DisposedError when this context or one of an operand was disposed.
   */
  build(operands: readonly Tensor[], make: TensorMaker): Tensor {
    const { pointer } = this.handle;
    for (const operand of operands) this.use(operand.context);
    this.#checkCapacity(make);
    const before = this.#lastTensor();
    const made = make(pointer);
    if (made === null) throw new ContextFullError("ggml made no tensor", { expected: "a tensor" });
    // An operator may make others on its way.
    for (const pointer of this.#tensorsAfter(before)) this.#note(pointer, operands);
    return this.wrap(made);
  }

  /** A tensor of this context, or of one that it uses, by its address. */
  wrap(pointer: Pointer<"ggml_tensor">): Tensor {
    return createTensor(this.#context, this.#ownerOf(pointer).#lifetimesOf(pointer), pointer);
  }

  /** Throws DisposedError once one of the tensors that a tensor was made of is gone: native code that looks at them would read what isn't there. */
  assertSourcesAlive(pointer: Pointer<"ggml_tensor">): void {
    const sources = this.#ownerOf(pointer).#foreign.get(pointer)?.sources ?? [];
    if (!sources.some((lifetime) => lifetime.ended)) return;
    throw new DisposedError(
      "a tensor that this one was made of went with its context; keep that context, or reset it later",
      {
        value: "a source whose context was disposed or reset",
        expected: "sources in use",
      },
    );
  }

  /** Notes that tensors of this context refer to those of another one, which must outlive it. */
  use(other: GgmlContext): void {
    if (other === this.#context) return;
    other.assertAlive();
    if (other.native !== this.#native) {
      throw new InvalidArgumentError("the tensors are of two sets of libraries", { expected: "tensors of one set" });
    }
    this.#uses.set(other, brands.context.of(other).lifetime);
  }

  /** Notes in which buffers the views lie that native code made in it. */
  attachViews(): void {
    for (const pointer of this.#tensorsAfter(null)) {
      const struct = this.#native.structAt("ggml_tensor", pointer);
      if (struct.view_src !== null) attachView(this.#native, struct, struct.view_src);
    }
  }

  /** Forgets its tensors. Throws GraphError while one of them is computed. */
  reset(): void {
    this.handle.assertAlive();
    if (this.handle.locked) {
      throw new GraphError("the context's tensors are in use by a computation; await that before you reset it", {
        value: "computing",
        expected: "a context that nothing computes with",
      });
    }
    for (const listener of [...this.#resetListeners]) listener();
    this.#native.lib.ggml_reset(this.handle.pointer);
    this.#memory.clear();
    this.#lifetime.end("a reset of the context");
    this.#lifetime = new Lifetime();
    this.#uses.clear();
    this.#foreign.clear();
    this.#last = null;
    this.releaseViews();
  }

  /** Ends its use. */
  dispose(): void {
    this.#lifetime.end("its context");
    this.releaseViews();
    this.#memory.clear();
    this.handle.dispose();
  }

  /**
   * Retains its memory, and that of the contexts it uses, until the returned function is called. Throws DisposedError when one of them was disposed or
   * reset.
   */
  retain(): () => void {
    const releases = [...this.reached()].map((context) => brands.context.of(context).handle.retain());
    return () => releases.forEach((release) => release());
  }

  /** Retains it as {@linkcode ContextCore.retain} does for a computation: it and the contexts it uses can't be reset meanwhile. */
  lock(): () => void {
    const releases = [...this.reached()].map((context) => brands.context.of(context).handle.lock());
    return () => releases.forEach((release) => release());
  }

  /** Notes that a graph of it is being allocated until the returned function is called. Throws GraphError while another one is. */
  beginAllocating(): () => void {
    const cores = [...this.reached()].map((context) => brands.context.of(context));
    for (const core of cores) core.assertSettled();
    for (const core of cores) core.#allocating++;
    return () => cores.forEach((core) => core.#allocating--);
  }

  /** Throws GraphError while a graph of it is being allocated: its tensors get memory just now. */
  assertSettled(): void {
    if (this.#allocating === 0) return;
    throw new GraphError("a graph of the context is being allocated; allocate others afterwards", {
      value: "being allocated",
      expected: "a context whose graphs are at rest",
    });
  }

  /** This context and all that it uses. Throws DisposedError when one of them was disposed or reset. */
  reached(into: Set<GgmlContext> = new Set()): Set<GgmlContext> {
    this.handle.assertAlive();
    if (into.has(this.#context)) return into;
    into.add(this.#context);
    for (const [other, lifetime] of this.#uses) {
      lifetime.assertAlive();
      brands.context.of(other).reached(into);
    }
    return into;
  }

  /** Keeps what owns the memory of its tensors, as long as the context is reachable and not reset. */
  keepMemory(owner: object): void {
    this.#memory.add(owner);
  }

  /** Calls a function before its tensors are forgotten. */
  onReset(listener: () => void): void {
    this.#resetListeners.add(listener);
  }

  /** Ends what {@linkcode ContextCore.onReset} began. */
  offReset(listener: () => void): void {
    this.#resetListeners.delete(listener);
  }

  /** Takes over what lives as long as this context; it is disposed after it, once no computation needs it. */
  adopt(resource: Disposable): void {
    this.#owned.push(resource);
  }

  /**
   * Remembers memory that was handed out without a copy: it is detached (its length becomes 0) when the memory goes, also when that is another context's, in
   * which `root` lies.
   */
  handOut(buffer: ArrayBuffer, root: Pointer<"ggml_tensor"> | null): void {
    this.#views.add(buffer, this.#context);
    const owner = root === null ? this : this.#ownerOf(root);
    if (owner !== this) owner.#views.add(buffer, this.#context);
  }

  /** Detaches what {@linkcode ContextCore.handOut} was given. */
  releaseViews(): void {
    this.#views.detach();
  }

  /** Notes the memory of a tensor that was made of these, and what it needs of other contexts. */
  #note(made: Pointer<"ggml_tensor">, operands: readonly Tensor[]): void {
    const sources = this.#foreignOf(operands);
    const struct = this.#native.structAt("ggml_tensor", made);
    const { view_src } = struct;
    if (view_src !== null) attachView(this.#native, struct, view_src);
    if (sources.length === 0) return;
    const shared = view_src === null ? [] : operands.filter((one) => sharesMemory(one, view_src));
    this.#foreign.set(made, { sources, view: this.#foreignOf(shared) });
  }

  #lastTensor(): Pointer<"ggml_tensor"> | null {
    for (const pointer of this.#tensorsAfter(this.#last)) this.#last = pointer;
    return this.#last;
  }

  *#tensorsAfter(tensor: Pointer<"ggml_tensor"> | null): Generator<Pointer<"ggml_tensor">> {
    const { lib } = this.#native;
    const { pointer } = this.handle;
    let at = tensor === null ? lib.ggml_get_first_tensor(pointer) : lib.ggml_get_next_tensor(pointer, tensor);
    for (; at !== null; at = lib.ggml_get_next_tensor(pointer, at)) yield at;
  }

  #foreignOf(tensors: readonly Tensor[]): Lifetime[] {
    const found = new Set(tensors.flatMap((tensor) => brands.tensor.of(tensor)));
    found.delete(this.#lifetime);
    return [...found];
  }

  /** What a tensor of this context lives as long as: the context, and for a view the one whose memory it shows. */
  #lifetimesOf(pointer: Pointer<"ggml_tensor">): readonly Lifetime[] {
    return [this.#lifetime, ...this.#foreign.get(pointer)?.view ?? []];
  }

  /** The context in whose memory a tensor lies: this one, or one that it uses. */
  #ownerOf(pointer: Pointer<"ggml_tensor">, seen: Set<ContextCore> = new Set()): ContextCore {
    if (this.#holds(pointer)) return this;
    seen.add(this);
    for (const [context, lifetime] of this.#uses) {
      const other = brands.context.of(context);
      if (lifetime.ended || seen.has(other)) continue;
      const owner = other.#ownerOf(pointer, seen);
      if (owner.#holds(pointer)) return owner;
    }
    return this;
  }

  #holds(pointer: bigint): boolean {
    if (this.handle.disposed) return false;
    const { lib } = this.#native;
    this.#start ??= lib.ggml_get_mem_buffer(this.handle.pointer) ?? 0n;
    this.#end ??= this.#start + BigInt(lib.ggml_get_mem_size(this.handle.pointer));
    return pointer >= this.#start && pointer < this.#end;
  }

  #checkCapacity(make: TensorMaker): void {
    const { lib } = this.#native;
    const { byteLength, usedBytes, noAlloc } = this.#context;
    const free = byteLength - usedBytes;
    if (noAlloc && free >= MAX_TENSORS_MADE * Number(lib.ggml_tensor_overhead())) return;
    const needed = measure(this.#native, make, !noAlloc);
    if (needed <= free) return;
    throw new ContextFullError(
      `the context has ${free} of ${byteLength} bytes left, and ${needed} are needed; make it with more maxTensors or dataBytes`,
      { value: free, expected: `${needed} bytes` },
    );
  }
}
