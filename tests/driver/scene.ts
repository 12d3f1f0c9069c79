/** Objects in one state, on which calls are made. */

import type { State } from "./states.ts";
import type { ValueSource } from "./values.ts";

/** Objects of one class in a scene. */
const MEMBERS = 16;

/** What a recipe works with. */
export interface Stage extends ValueSource {
  /** The state that its objects shall be in. */
  readonly state: State;
  /** Puts objects into the scene. */
  keep(...made: unknown[]): void;
  /** Puts objects into the scene whose class has no constructor that is known by name. */
  keepAs(name: string, ...made: unknown[]): void;
  /** Makes calls: from within a callback. */
  act(): void;
  /** Makes calls while work is under way. */
  during(work: PromiseLike<unknown>): Promise<void>;
  /** Waits for work that ends in the loss of a native thread, or of another process. */
  lose(work: Promise<unknown>): Promise<void>;
}

/** A way to bring objects into some states. */
export interface Recipe {
  readonly name: string;
  readonly states: readonly State[];
  make(stage: Stage): Promise<void> | void;
}

/** What is on the stage. */
export class Scene {
  /** Objects by class. */
  readonly members = new Map<string, unknown[]>();
  /** Calls that are left. */
  left: number;
  /** Pieces of work under way. */
  working = 0;
  /** Whether a native thread of its objects was lost. */
  lost = false;
  /** Whether its calls were made. */
  over = false;
  readonly #all = new Set<unknown>();

  constructor(readonly state: State, readonly recipe: string, calls: number) {
    this.left = calls;
  }

  /** Whether other objects are called in it, too, and functions that take none. */
  get isFree(): boolean {
    return this.state === "fresh" || this.state === "in callback";
  }

  /** Scenes with the same have the same classes of objects. */
  get signature(): string {
    return `${this.isFree} ${[...this.members.keys()].join()}`;
  }

  /** Adds an object. */
  add(name: string, object: unknown): void {
    const known = this.members.get(name) ?? [];
    if (known.length < MEMBERS && !known.includes(object)) known.push(object);
    this.members.set(name, known);
    this.#all.add(object);
  }

  /** Whether an object is in it. */
  has(object: unknown): boolean {
    return this.#all.has(object);
  }
}
