import type { TaskContext } from "../../../../ffi/thread/task.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import { show } from "../../../support/check.ts";
import { SamplerCandidates } from "../../sampling/candidates.ts";
import { askHop } from "../../sampling/caller_sampler.ts";
import type { OrderSettings, SamplerFunction } from "../../sampling/order.ts";
import type { Candidates } from "./candidates.ts";
import type { OwnSettings } from "./chain.ts";
import type { GenerateInput, GenerateMessage } from "../protocol.ts";

/** Samplers of the user's own: functions of modules that this thread imported, and functions on the caller's thread. */
export class OwnSamplers {
  readonly #task: TaskContext<GenerateMessage>;
  readonly #hop: GenerateInput["hop"];
  readonly #modules: ReadonlyMap<OwnSettings, SamplerFunction>;
  #told = 0;

  /** Of a generation; `modules` are its modules' functions. */
  constructor(
    task: TaskContext<GenerateMessage>,
    { hop }: GenerateInput,
    modules: ReadonlyMap<OwnSettings, SamplerFunction>,
  ) {
    this.#task = task;
    this.#hop = hop;
    this.#modules = modules;
  }

  /** Memory for the candidates that both threads see; `undefined` when that isn't needed. */
  get memory(): SharedArrayBuffer | undefined {
    return this.#hop?.memory;
  }

  /** Applies one of them. */
  apply(own: OwnSettings, candidates: Candidates, generated: readonly number[]): void {
    const module = this.#modules.get(own);
    candidates.setSize(
      module === undefined ? this.#ask(own, candidates.size, generated) : call(module, candidates, generated),
    );
  }

  #ask(own: OwnSettings, size: number, generated: readonly number[]): number {
    if (own.kind !== "function" || this.#hop === undefined) throw new TypeError("unreachable");
    const tokens = generated.slice(this.#told);
    this.#told = generated.length;
    const ask = () => this.#task.post({ sampler: own.index, size, tokens });
    return askHop(this.#hop, ask, () => this.#task.throwIfCancelled());
  }
}

function call(sampler: SamplerFunction, { ids, values, size }: Candidates, generated: readonly number[]): number {
  const view = new SamplerCandidates(ids, values, size, generated);
  try {
    sampler(view);
    return view.size;
  } finally {
    view.end();
  }
}

/** Imports the modules and makes their functions. Throws InvalidArgumentError when one can't be had. */
export async function importSamplers(order: readonly OrderSettings[]): Promise<Map<OwnSettings, SamplerFunction>> {
  const made = new Map<OwnSettings, SamplerFunction>();
  for (const own of order) {
    if (own.kind === "module") made.set(own, await importSampler(own.url, own.name, own.options));
  }
  return made;
}

async function importSampler(url: string, name: string, options: unknown): Promise<SamplerFunction> {
  let module: Record<string, unknown>;
  try {
    module = await import(url) as Record<string, unknown>;
  } catch (cause) {
    throw new InvalidArgumentError(
      `the sampler module ${url} can't be imported: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        value: url,
        expected: "a module",
        cause,
      },
    );
  }
  const make = module[name];
  const sampler: unknown = typeof make === "function" ? make(options) : undefined;
  if (typeof sampler === "function") return sampler as SamplerFunction;
  throw new InvalidArgumentError(
    `${name} of ${url} ${
      typeof make === "function" ? `gives ${show(sampler)}` : "is no function"
    }; export a function that gives the sampler`,
    { value: name, expected: "a function (options) => (candidates) => void" },
  );
}
