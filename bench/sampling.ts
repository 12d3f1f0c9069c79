/**
 * The cost of choosing tokens beside computing them: the default chain, all samplers at once, a grammar of a typical schema; beside the way of upstream's
 * common sampler in C, on the same libraries and prompts.
 *
 *   deno run -A bench/sampling.ts [--pairs 5] [--threads 2] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { schemaToGrammar } from "../mod.ts";
import { buildCLoop } from "./support/c_loop.ts";
import { machine } from "./support/machine.ts";
import { benchOptions, progress } from "./support/options.ts";
import { benchFolder, ROOT, RUNTIMES, runTool } from "./support/places.ts";
import { show, summarize } from "./support/stats.ts";
import { table } from "./support/table.ts";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 40 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    email: { type: "string", format: "email" },
    address: {
      type: "object",
      properties: {
        street: { type: "string" },
        city: { type: "string" },
        postcode: { type: "string", pattern: "^[0-9]{5}$" },
      },
      required: ["street", "city"],
      additionalProperties: false,
    },
    tags: { type: "array", items: { enum: ["new", "vip", "blocked", "trial"] }, maxItems: 4 },
    active: { type: "boolean" },
  },
  required: ["name", "age", "address", "tags", "active"],
  additionalProperties: false,
};
const STORY = "Once upon a time";
const JSON_PROMPT =
  "<|im_start|>user\nInvent a customer and write it as JSON with name, age, email, address, tags and active.<|im_end|>\n<|im_start|>assistant\n";
const EVERYTHING = {
  repeatPenalty: 1.1,
  frequencyPenalty: 0.1,
  presencePenalty: 0.1,
  dryMultiplier: 0.8,
  topNSigma: 3,
  typicalP: 0.95,
  xtcProbability: 0.1,
  dynatempRange: 0.2,
};

interface Scenario {
  readonly name: string;
  readonly prompt: string;
  readonly options: object;
  /** Whether the C program can do it. */
  readonly inC: boolean;
}

interface Sampled {
  readonly tokens: number;
  readonly decodeMs: number;
  readonly sampleMs: number;
  readonly refused: number;
}

const options = await benchOptions(5);
const TOKENS = options.short ? 8 : 96;
const grammar = schemaToGrammar(SCHEMA, { whitespace: "flexible" });
const grammarFile = join(benchFolder("sampling"), "grammar.gbnf");
writeFileSync(grammarFile, grammar);
const program = await buildCLoop(options.libraries, "sampler_loop");
const scenarios: readonly Scenario[] = [
  { name: "defaults", prompt: STORY, options: {}, inC: true },
  { name: "all samplers", prompt: STORY, options: EVERYTHING, inC: false },
  { name: "log-probabilities, 5 alternatives", prompt: STORY, options: { logprobs: 5 }, inC: false },
  { name: "banned strings", prompt: STORY, options: { bannedStrings: [" the", "amazing", " was a"] }, inC: false },
  { name: "grammar of a schema, defaults", prompt: JSON_PROMPT, options: { grammar }, inC: true },
  {
    name: "grammar of a schema, temperature 1.5",
    prompt: JSON_PROMPT,
    options: { grammar, temperature: 1.5 },
    inC: true,
  },
];
const threads = String(options.threads.at(-1) ?? 1);
const seeds = Array.from({ length: options.pairs }, (_, index) => String(index + 1));

function run(command: readonly string[]): Sampled[] {
  const env = { GGML_FFI_LIBRARY_PATH: options.libraries };
  return runTool(command, { env }).trim().split("\n").map((line) => JSON.parse(line) as Sampled);
}

function contestants({ prompt, options: sampling, inC }: Scenario): Record<string, Sampled[]> {
  const ours = [
    `${ROOT}bench/children/sampling.ts`,
    options.model,
    threads,
    String(TOKENS),
    prompt,
    JSON.stringify(sampling),
    ...seeds,
  ];
  const { temperature = 0.8, grammar } = sampling as { temperature?: number; grammar?: string };
  const c = [
    program,
    options.model,
    options.libraries,
    threads,
    String(TOKENS),
    grammar === undefined ? "-" : grammarFile,
    prompt,
    String(temperature),
    ...seeds,
  ];
  return {
    ...(inC ? { c: run(c) } : {}),
    deno: run([...RUNTIMES.deno, ...ours]),
    bun: run([...RUNTIMES.bun, ...ours]),
  };
}

const results = scenarios.map((scenario) => {
  progress(scenario.name);
  const measured = Object.entries(contestants(scenario)).map(([who, rounds]) => ({
    who,
    microseconds: summarize(rounds.map(({ sampleMs, tokens }) => sampleMs * 1000 / tokens)),
    percent: summarize(rounds.map(({ sampleMs, decodeMs }) => sampleMs * 100 / (sampleMs + decodeMs))),
    refused: rounds.reduce((sum, one) => sum + one.refused, 0) / rounds.reduce((sum, one) => sum + one.tokens, 0),
  }));
  return { scenario: scenario.name, measured };
});

if (options.json) console.log(JSON.stringify({ machine: machine(), threads, tokens: TOKENS, results }));
else {
  console.log(`${machine().cpu}, ${threads} threads, ${options.pairs} runs of ${TOKENS} tokens\n`);
  console.log(table([
    ["", "", "µs a token", "% of the time", "refused"],
    ...results.flatMap(({ scenario, measured }) =>
      measured.map((
        { who, microseconds, percent, refused },
      ) => [scenario, who, show(microseconds, 0), show(percent, 2), `${(refused * 100).toFixed(0)} %`])
    ),
  ]));
}
