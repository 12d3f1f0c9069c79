import { messageOf } from "../../../../base/error.ts";
import type { TaskContext } from "../../../../ffi/thread/task.ts";
import { InvalidArgumentError } from "../../../errors.ts";
import { show } from "../../../../base/check.ts";
import { lendCandidates } from "../../sampling/candidates.ts";
import { askCaller } from "../../sampling/caller_sampler.ts";
import type { OrderSettings, SamplerFunction } from "../../sampling/order.ts";
import type { Candidates } from "./candidates.ts";
import type { CustomSettings } from "./chain.ts";
import type { GenerateInput, GenerateMessage } from "../protocol.ts";

/** Custom samplers: functions of modules that this thread imported, and functions on the caller's thread. */
export class CustomSamplers {
  readonly #task: TaskContext<GenerateMessage>;
  readonly #exchange: GenerateInput["exchange"];
  readonly #modules: ReadonlyMap<CustomSettings, SamplerFunction>;
  #sent = 0;

  /** Makes the custom samplers of a generation; `modules` are the functions of its modules. */
  constructor(
    task: TaskContext<GenerateMessage>,
    { exchange }: GenerateInput,
    modules: ReadonlyMap<CustomSettings, SamplerFunction>,
  ) {
    this.#task = task;
    this.#exchange = exchange;
    this.#modules = modules;
  }

  /** Memory for the candidates that both threads share; `undefined` if none is needed. */
  get memory(): SharedArrayBuffer | undefined {
    return this.#exchange?.memory;
  }

  /** Applies one of them. */
  apply(sampler: CustomSettings, candidates: Candidates, generated: readonly number[]): void {
    const module = this.#modules.get(sampler);
    candidates.setSize(
      module === undefined ? this.#ask(sampler, candidates.size, generated) : call(module, candidates, generated),
    );
  }

  #ask(sampler: CustomSettings, size: number, generated: readonly number[]): number {
    if (sampler.kind !== "function" || this.#exchange === undefined) throw new TypeError("unreachable");
    const tokens = generated.slice(this.#sent);
    this.#sent = generated.length;
    const ask = () => this.#task.post({ sampler: sampler.index, size, tokens });
    return askCaller(this.#exchange, ask, () => this.#task.throwIfCancelled());
  }
}

function call(sampler: SamplerFunction, { ids, values, size }: Candidates, generated: readonly number[]): number {
  return lendCandidates(ids, values, size, generated, sampler);
}

/** Imports the modules and makes their functions. Throws InvalidArgumentError if one can't be imported or made. */
export async function importSamplers(order: readonly OrderSettings[]): Promise<Map<CustomSettings, SamplerFunction>> {
  const made = new Map<CustomSettings, SamplerFunction>();
  for (const sampler of order) {
    if (sampler.kind === "module") made.set(sampler, await importSampler(sampler.url, sampler.name, sampler.options));
  }
  return made;
}

async function importSampler(url: string, name: string, options: unknown): Promise<SamplerFunction> {
  let module: Record<string, unknown>;
  try {
    module = await import(url) as Record<string, unknown>;
  } catch (cause) {
    throw new InvalidArgumentError(
      `the sampler module ${url} can't be imported: ${messageOf(cause)}`,
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
      typeof make === "function" ? `returned ${show(sampler)}` : "isn't a function"
    }; expected a function that returns the sampler`,
    { value: name, expected: "a function (options) => (candidates) => void" },
  );
}
