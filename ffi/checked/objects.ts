import type { FunctionShape } from "../requirements/parameters.ts";
import { isFreed, makesInside, owners, takesOver } from "./ownership.ts";

/** Freed objects that are remembered, at most. */
const MAX_FREED = 4096;

/** An object in native memory that a checked call gave. */
export interface NativeObject {
  readonly kind: string;
  readonly address: bigint;
  /** The function that gave it, and its arguments by name: numbers alone. */
  readonly madeBy: string;
  readonly made: Readonly<Record<string, unknown>>;
  owner: NativeObject | undefined;
  readonly contents: Set<NativeObject>;
  /** The function that freed it; `undefined` as long as it lives. */
  freedBy: string | undefined;
}

/** The objects of one thread: which live, which were freed, and what belongs to what. */
export class NativeObjects {
  readonly #byAddress = new Map<bigint, NativeObject>();
  /** Those that were freed, the oldest first. */
  readonly #freed = new Set<NativeObject>();
  readonly #reused = new Map<string, readonly string[]>();

  /** The object at an address, alive or not. */
  at(address: unknown): NativeObject | undefined {
    return typeof address === "bigint" ? this.#byAddress.get(address) : undefined;
  }

  /** Whether living objects of a kind belong to one. */
  hasLiving(owner: unknown, kind: string): boolean {
    return [...this.at(owner)?.contents ?? []].some((one) => one.kind === kind);
  }

  /** Takes note of what a call gave, freed and handed over. */
  after(shape: FunctionShape, values: readonly unknown[], result: unknown): void {
    const freed = isFreed(shape.name);
    if (freed !== undefined) this.#free(this.at(values[0]), shape.name, freed === "itself");
    const reused = this.#reusedBy(shape.name);
    if (reused.length > 0) { for (const one of this.#freed) if (reused.includes(one.kind)) this.#forget(one); }
    const [owned, owner] = takesOver(shape, values, result);
    const taken = this.at(owned);
    if (taken !== undefined) this.#give(taken, this.at(owner));
    if (shape.result !== undefined && typeof result === "bigint") this.#note(shape, values, result, shape.result);
  }

  #note({ name, parameters }: FunctionShape, values: readonly unknown[], address: bigint, kind: string): void {
    const owning = owners[kind];
    if (owning === undefined) return;
    const known = this.at(address);
    if (known?.kind === kind && known.freedBy === undefined) return;
    if (known !== undefined) this.#forget(known);
    const made = Object.fromEntries(
      parameters.map((one, index) => [one.name, values[index]]).filter(([, value]) => typeof value !== "object"),
    );
    const object: NativeObject = {
      kind,
      address,
      madeBy: name,
      made,
      owner: undefined,
      contents: new Set(),
      freedBy: undefined,
    };
    this.#byAddress.set(address, object);
    const given = values.flatMap((value) => this.at(value) ?? []).flatMap((one) => [one, one.owner]);
    this.#give(object, given.find((one) => one !== undefined && owning.includes(one.kind)));
  }

  /** The kinds of objects that a function may make inside of C, looked up once. */
  #reusedBy(name: string): readonly string[] {
    let kinds = this.#reused.get(name);
    if (kinds === undefined) {
      this.#reused.set(
        name,
        kinds = Object.keys(owners).filter((kind) => makesInside(name, kind)),
      );
    }
    return kinds;
  }

  #give(object: NativeObject, owner: NativeObject | undefined): void {
    object.owner?.contents.delete(object);
    object.owner = owner;
    owner?.contents.add(object);
  }

  #free(object: NativeObject | undefined, by: string, itself: boolean): void {
    if (object === undefined || object.freedBy !== undefined) return;
    for (const one of [...object.contents]) this.#free(one, by, true);
    if (!itself) return;
    object.freedBy = by;
    this.#give(object, undefined);
    this.#freed.add(object);
    const [oldest] = this.#freed;
    if (this.#freed.size > MAX_FREED && oldest !== undefined) this.#forget(oldest);
  }

  #forget(object: NativeObject): void {
    this.#freed.delete(object);
    this.#give(object, undefined);
    if (this.at(object.address) === object) this.#byAddress.delete(object.address);
  }
}
