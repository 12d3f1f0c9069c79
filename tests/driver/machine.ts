/** Makes random calls on the objects of an entry point and judges what comes of them. */

import { setTimeout as wait } from "node:timers/promises";
import { randomBelow } from "../support/random.ts";
import type { Api, ApiCall, ApiType } from "./api.ts";
import { endless } from "./excluded.ts";
import { Deliberate, Judge, type Report } from "./judge.ts";
import { type Recipe, Scene, type Stage } from "./scene.ts";
import { shown } from "./shown.ts";
import type { State } from "./states.ts";
import { fieldValue, pick, valueOf, type ValueSource, wrongValue } from "./values.ts";

/** What a machine works on. */
export interface MachineOptions {
  readonly api: Api;
  /** The exports of the entry point; those of its namespaces by their own names. */
  readonly exports: Readonly<Record<string, unknown>>;
  readonly recipes: readonly Recipe[];
  /** Calls that are never made. */
  readonly excluded: ReadonlySet<string>;
  /** Calls that take so long that they mostly get wrong arguments. */
  readonly costly: ReadonlySet<string>;
  /** Values for parameters and properties of these names. */
  readonly hints: Readonly<Record<string, readonly unknown[]>>;
  readonly seed: number;
  /** How often a scene is played and a call is chosen in relation to others: 1 where nothing is said. */
  readonly weights: Readonly<Record<string, number>>;
  /** Gets a line before each call. */
  readonly trace: (line: string) => void;
}

/** Objects of one class that are kept from one scene to the next. */
const POOL = 8;
/** Calls of a scene. */
const CALLS = 200;
/** Calls of a scene whose native thread is lost, which takes long to bring about. */
const CALLS_LOST = 600;
/** A call that isn't settled after so long hangs. */
const LIMIT_MS = 60_000;

/** A run of random calls. */
export class Machine {
  readonly #options: MachineOptions;
  readonly #judge = new Judge();
  readonly #kept = new Map<string, unknown[]>();
  readonly #waiting = new Map<Promise<unknown>, string>();
  readonly #scenes: readonly { readonly recipe: Recipe; readonly state: State; readonly weight: number }[];
  readonly #choices = new Map<string, readonly ApiCall[]>();
  #scene = new Scene("fresh", "", 0);
  #below: (limit: number) => number = randomBelow(0);
  #wrongOneIn = 12;
  #step = 0;
  #depth = 0;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#scenes = options.recipes.flatMap((recipe) =>
      recipe.states.map((state) => ({
        recipe,
        state,
        weight: options.weights[`${recipe.name}/${state}`] ?? (state === "lost" ? 0.02 : 1),
      }))
    );
  }

  /** What it has found. */
  get report(): Report {
    return this.#judge.report;
  }

  /** Gives it an object to work with, by the name of its type. */
  add(name: string, object: unknown): void {
    this.#kept.set(name, [object]);
  }

  /** Plays a scene: objects are brought into a state, and called. Each has random numbers of its own, so that it plays alike without others before it. */
  async step(step: number): Promise<void> {
    this.#step = step;
    this.#judge.step = step;
    this.#below = randomBelow(this.#options.seed * 1_000_003 + step);
    const { recipe, state } = this.#pickScene();
    const began = performance.now();
    const scene = this.#scene = new Scene(state, recipe.name, state === "lost" ? CALLS_LOST : CALLS);
    this.#options.trace(`${step} ${recipe.name}, ${state}`);
    try {
      await recipe.make(this.#stage(scene));
    } catch (error) {
      this.#judge.error(`recipe ${recipe.name}`, error);
    }
    if (state === "disposed") await this.#dispose(scene);
    this.#calls(scene.left);
    await this.#settle();
    scene.over = true;
    for (const [name, objects] of scene.members) objects.slice(0, 2).forEach((one) => this.#remember(name, one));
    if (state !== "lost" && this.#below(8) > 0) await this.#dispose(scene);
    this.#judge.spend(`${recipe.name}/${state}`, performance.now() - began);
    collectGarbage(step);
  }

  #pickScene(): { readonly recipe: Recipe; readonly state: State } {
    const total = this.#scenes.reduce((sum, { weight }) => sum + weight, 0);
    let at = this.#below(1 << 30) / (1 << 30) * total;
    for (const one of this.#scenes) if ((at -= one.weight) <= 0) return one;
    return this.#scenes[0] as { recipe: Recipe; state: State };
  }

  #stage(scene: Scene): Stage {
    return {
      ...this.#source,
      state: scene.state,
      keep: (...made) => made.forEach((one) => this.#keep(one)),
      keepAs: (name, ...made) => made.forEach((one) => scene.add(name, one)),
      act: () => this.#act(1 + this.#below(12)),
      during: (work) => this.#during(scene, work),
      lose: (work) => this.#lose(scene, work),
    };
  }

  /** Makes calls while work is under way, at once and between its messages. */
  async #during(scene: Scene, work: PromiseLike<unknown>): Promise<void> {
    scene.working++;
    this.#wait("the work of a scene", Promise.resolve(work).finally(() => scene.working--));
    this.#calls(this.#below(scene.left));
    while (scene.working > 0 && scene.left > 0) {
      this.#calls(1 + this.#below(3));
      await wait(this.#below(3));
    }
  }

  async #lose(scene: Scene, work: Promise<unknown>): Promise<void> {
    const outcome = work.then(() => undefined, (error: unknown) => (error as { code?: string } | null)?.code);
    const code = await outcome;
    scene.lost = code === "NATIVE_ABORT" || code === "REMOTE_LOST" || code === "NATIVE_HANG";
    this.#options.trace(`${this.#step} lost: ${code}`);
  }

  async #dispose(scene: Scene): Promise<void> {
    const all = [...scene.members.values()].flat();
    for (let left = all.length; left > 0; left--) {
      const [one] = all.splice(this.#below(left), 1);
      await this.#end(one);
      if (one !== null && typeof one === "object") this.#judge.gone.add(one);
    }
  }

  async #end(object: unknown): Promise<void> {
    const one = object as Partial<Disposable & AsyncDisposable>;
    try {
      if (typeof one[Symbol.asyncDispose] === "function") await one[Symbol.asyncDispose]?.();
      else if (typeof one[Symbol.dispose] === "function") one[Symbol.dispose]?.();
    } catch (error) {
      this.#judge.error("dispose", error);
    }
  }

  /** Waits for all calls that are under way. */
  async #settle(): Promise<void> {
    const end = Date.now() + LIMIT_MS;
    while (this.#waiting.size > 0) {
      const controller = new AbortController();
      const late = wait(Math.max(0, end - Date.now()), "late", { signal: controller.signal }).catch(() => "");
      const outcome = await Promise.race([Promise.all(this.#waiting.keys()), late]);
      controller.abort();
      if (outcome !== "late") continue;
      for (const call of this.#waiting.values()) this.#judge.hang(call, LIMIT_MS);
      this.#waiting.clear();
    }
  }

  /** Waits for what is under way and disposes everything that is left. */
  async end(): Promise<void> {
    await this.#settle();
    for (const object of [...this.#kept.values()].flat()) await this.#end(object);
  }

  get #source(): ValueSource {
    return {
      below: (limit) => this.#below(limit),
      api: this.#options.api,
      wrong: () => this.#wrongOneIn > 0 && this.#below(this.#wrongOneIn) === 0,
      hint: (name) => {
        const values = this.#options.hints[name];
        return values === undefined ? undefined : pick((limit) => this.#below(limit), values);
      },
      object: (name) => this.#object(name),
      callback: (result) => this.#callback(result),
      signal: () => this.#signal(),
    };
  }

  #calls(count: number): void {
    for (let left = Math.min(count, this.#scene.left); left > 0; left--) {
      this.#scene.left--;
      this.#call();
    }
  }

  /** Makes calls from within a callback. */
  #act(count: number): void {
    if (this.#depth >= 2 || this.#scene.left <= 0) return;
    this.#depth++;
    try {
      this.#calls(count);
    } finally {
      this.#depth--;
    }
  }

  #call(): void {
    const choices = this.#choicesOf(this.#scene);
    let call = pick((limit) => this.#below(limit), choices);
    for (let tries = 6; tries > 0; tries--) {
      if (this.#below(1000) < 1000 * (this.#options.weights[call.title] ?? 1)) break;
      call = pick((limit) => this.#below(limit), choices);
    }
    const isOwn = call.kind === "method" || call.kind === "getter" || call.kind === "setter";
    const receiver = isOwn ? this.#object(call.owner) : undefined;
    if (isOwn && receiver === undefined) return;
    this.#wrongOneIn = this.#options.costly.has(call.title)
      ? pick((limit) => this.#below(limit), [2, 2, 2, 2, 0])
      : pick((limit) => this.#below(limit), [0, 0, 30, 12, 4]);
    const args = this.#arguments(call);
    const state = this.#stateOf([receiver, ...args]);
    this.#judge.count(call.title, state, `${this.#scene.recipe}/${this.#scene.state}`);
    this.#options.trace(`${this.#step} ${state}: ${call.title}(${args.map(shown).join(", ")})`);
    try {
      this.#take(call, this.#invoke(call, receiver, args));
    } catch (error) {
      this.#judge.error(call.title, error);
    }
  }

  /** What can be called in a scene: functions that take no object only now and then. */
  #choicesOf(scene: Scene): readonly ApiCall[] {
    const known = this.#choices.get(scene.signature);
    if (known !== undefined) return known;
    const { api, excluded } = this.#options;
    const calls = api.calls.filter((call) => {
      if (excluded.has(call.title)) return false;
      const isOwn = call.kind === "method" || call.kind === "getter" || call.kind === "setter";
      if (isOwn) return scene.members.has(call.owner) || (scene.isFree && this.#kept.has(call.owner));
      return scene.isFree || uses(call, (name) => scene.members.has(name));
    });
    const choices = calls.length > 0 ? calls : api.calls.filter(({ kind }) => kind === "function");
    this.#choices.set(scene.signature, choices);
    return choices;
  }

  #arguments({ parameters }: ApiCall): unknown[] {
    const wanted = parameters.filter(({ optional }) => !optional || this.#below(2) === 0);
    const given = this.#wrongOneIn > 0 && this.#below(16) === 0
      ? wanted.slice(0, this.#below(wanted.length + 1))
      : wanted;
    return given.map((parameter) => fieldValue(parameter, this.#source));
  }

  #invoke(call: ApiCall, receiver: unknown, args: unknown[]): unknown {
    const { exports } = this.#options;
    const own = exports[call.owner === "" ? call.name : call.owner];
    const key = keyOf(call.name);
    switch (call.kind) {
      case "function":
        return (own as (...given: unknown[]) => unknown)(...args);
      case "constructor":
        return new (own as new (...given: unknown[]) => unknown)(...args);
      case "static":
        return (own as Record<PropertyKey, (...given: unknown[]) => unknown>)[key]?.(...args);
      case "getter":
        return (receiver as Record<PropertyKey, unknown>)[key];
      case "setter":
        (receiver as Record<PropertyKey, unknown>)[key] = args[0];
        return undefined;
      case "method":
        return (receiver as Record<PropertyKey, (...given: unknown[]) => unknown>)[key]?.(...args);
    }
  }

  /** Keeps what a call gave; a Promise is waited for, and a stream read for a while. */
  #take(call: ApiCall, given: unknown): void {
    if (given === null || typeof given !== "object") return;
    const named = nameOf(call.result);
    if (named !== undefined && this.#options.api.classes.includes(named)) this.#scene.add(named, given);
    if (typeof (given as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function") {
      const stream = given as AsyncIterable<unknown> & Partial<PromiseLike<unknown>>;
      // A stream that is a Promise as well is left to go on, now and then.
      if (typeof stream.then !== "function" || this.#below(2) === 0) this.#wait(call.title, this.#read(stream));
      if (typeof stream.then !== "function") return;
    }
    if (typeof (given as Partial<PromiseLike<unknown>>).then !== "function") return this.#keep(given);
    if (endless.has(call.title)) return;
    const promised = call.result.kind === "named" && call.result.name === "Promise" ? call.result.of[0] : undefined;
    const inside = promised === undefined ? undefined : nameOf(promised);
    const isKnown = inside !== undefined && this.#options.api.classes.includes(inside);
    this.#wait(
      call.title,
      Promise.resolve(given as PromiseLike<unknown>).then((made) =>
        isKnown ? this.#scene.add(inside, made) : this.#keep(made)
      ),
    );
  }

  #wait(call: string, work: Promise<unknown>): void {
    const settled: Promise<unknown> = work.catch((error) => this.#judge.error(call, error)).finally(() => {
      this.#waiting.delete(settled);
    });
    this.#waiting.set(settled, call);
  }

  async #read(stream: AsyncIterable<unknown>): Promise<void> {
    let left = 1 + this.#below(4);
    for await (const item of stream) {
      this.#keep(item);
      if (--left === 0) break;
    }
  }

  #keep(value: unknown): void {
    if (Array.isArray(value)) return value.slice(0, 4).forEach((one) => this.#keep(one));
    if (value === null || typeof value !== "object") return;
    const { api, exports } = this.#options;
    const name = api.classes.find((one) => {
      const type = exports[one];
      return typeof type === "function" && value instanceof type;
    });
    if (name === undefined) return;
    if (this.#scene.over) this.#remember(name, value);
    else this.#scene.add(name, value);
  }

  #remember(name: string, value: unknown): void {
    const pool = this.#kept.get(name) ?? [];
    if (pool.length < POOL) pool.push(value);
    else pool[this.#below(POOL)] = value;
    this.#kept.set(name, pool);
  }

  /** An object of the scene, mostly. */
  #object(name: string): unknown {
    const known = nameInScene[name] ?? name;
    const members = this.#scene.members.get(known);
    const kept = this.#kept.get(known);
    const from = members !== undefined && (kept === undefined || this.#below(8) > 0) ? members : kept;
    return from === undefined || from.length === 0 ? undefined : pick((limit) => this.#below(limit), from);
  }

  #callback(result: ApiType): unknown {
    return (...given: unknown[]): unknown => {
      given.forEach((one) => this.#keep(one));
      if (this.#below(12) === 0) {
        throw this.#below(8) === 0 ? wrongValue(this.#below) : new Deliberate("a callback threw");
      }
      this.#act(this.#below(3));
      return valueOf(result, this.#source);
    };
  }

  #signal(): AbortSignal {
    const controller = new AbortController();
    const kind = this.#below(4);
    const abort = () => controller.abort(new Deliberate("aborted"));
    if (kind === 0) abort();
    if (kind === 1) queueMicrotask(abort);
    if (kind === 2) setTimeout(abort, this.#below(20));
    return controller.signal;
  }

  #stateOf(used: readonly unknown[]): State {
    const scene = this.#scene;
    const gone = used.some((one) => this.#judge.isGone(one));
    if (gone) return "disposed";
    if (used.some((one) => scene.has(one))) {
      if (scene.lost) return "lost";
      if (this.#depth > 0) return "in callback";
      if (scene.working > 0) return "in use";
    }
    return this.#depth > 0 ? "in callback" : "fresh";
  }
}

const nameInScene: Readonly<Record<string, string>> = { TensorReference: "Tensor", GraphReference: "Graph" };

function uses({ parameters }: ApiCall, known: (name: string) => boolean): boolean {
  const used = (type: ApiType): boolean =>
    type.kind === "named"
      ? known(nameInScene[type.name] ?? type.name) || type.of.some(used)
      : type.kind === "union" || type.kind === "tuple"
      ? type.of.some(used)
      : type.kind === "array" && used(type.of);
  return parameters.some(({ type }) => used(type));
}

/** The name of the type that a call gives, in a Promise or not. */
function nameOf(type: ApiType): string | undefined {
  if (type.kind !== "named") return undefined;
  return type.name === "Promise" && type.of[0] !== undefined ? undefined : type.name;
}

function keyOf(name: string): PropertyKey {
  if (name === "[Symbol.dispose]") return Symbol.dispose;
  if (name === "[Symbol.asyncDispose]") return Symbol.asyncDispose;
  if (name === "[Symbol.asyncIterator]") return Symbol.asyncIterator;
  if (name === "[Symbol.iterator]") return Symbol.iterator;
  return name;
}

/** Lets finalizers run at odd moments, where the runtime offers it. */
function collectGarbage(step: number): void {
  if (step % 32 !== 0) return;
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };
  gc?.();
  Bun?.gc(true);
}
