/**
 * Finds the abilities of a chat template by rendering small conversations with it.
 *
 * @module
 */

import { JinjaError } from "../../../jinja/mod.ts";
import { ChatTemplateError } from "../../../errors.ts";
import { type RenderInput, type RenderSettings, renderTemplate } from "./render.ts";

/** The abilities of a chat template. */
export interface TemplateTraits {
  /** Whether it has a place for a system message. */
  readonly system: boolean;
  /** Whether it wants contents as lists of parts: text alone it doesn't show. */
  readonly parts: boolean;
  /** Whether it tells the model of tools. */
  readonly tools: boolean;
  /** Whether it shows calls of tools, and how it wants their arguments: as an object, or as JSON text. */
  readonly calls: "object" | "text" | undefined;
  /** Whether it shows several calls of one answer: some refuse more than one. */
  readonly parallel: boolean;
  /** Whether it shows what tools gave. */
  readonly results: boolean;
}

/** Input of {@linkcode templateTraits}. */
export interface TraitsInput extends Pick<RenderInput, "source" | "startToken" | "endToken"> {
  /** Whether tools matter: otherwise the template isn't asked, and counts as one that knows them. Default true. */
  readonly withTools?: boolean;
}

const parameters = { type: "object", properties: { probe_key: { type: "string" } }, required: ["probe_key"] };
const tool = {
  type: "function",
  function: { name: "probe_tool", description: "Probes", parameters },
};

/** A small conversation's messages, with their contents as the template wants them. */
function messagesFor(parts: boolean) {
  const content = (text: string): unknown => parts ? [{ type: "text", text }] : text;
  return {
    system: { role: "system", content: content("probe-system") },
    question: { role: "user", content: content("probe-question") },
    answer: { role: "assistant", content: content("probe-answer") },
    result: { role: "tool", content: content("probe-result"), tool_call_id: "probe0000", name: "probe_tool" },
    call(...args: unknown[]): object {
      const calls = args.map((one) => ({
        id: "probe0000",
        type: "function",
        function: { name: "probe_tool", arguments: one },
      }));
      return { role: "assistant", content: content(""), tool_calls: calls };
    },
  };
}

/** Text that a template made, or why it made none. */
type Outcome = { readonly text: string; readonly error?: undefined } | {
  readonly text: "";
  readonly error: ChatTemplateError;
};

/** Renders a small conversation. What isn't the template's doing, such as a cancel or a limit, is thrown. */
type Probe = (messages: readonly object[], tools?: readonly object[]) => Promise<Outcome>;

let known: { key: string; traits: TemplateTraits } | undefined;

/**
 * Finds out what a template can do.
 *
 * An ability is missing where the template refuses in its own words (`raise_exception`) or shows nothing; where it fails in another way the form stays.
 *
 * Throws {@linkcode ChatTemplateError} when it doesn't parse or takes more than it may.
 */
export async function templateTraits(input: TraitsInput, settings: RenderSettings = {}): Promise<TemplateTraits> {
  const key = `${input.withTools ?? true} ${input.source}`;
  if (known?.key !== key) known = { key, traits: await findTraits(input, settings) };
  return known.traits;
}

async function findTraits(
  { withTools = true, ...input }: TraitsInput,
  settings: RenderSettings,
): Promise<TemplateTraits> {
  const probe: Probe = async (messages, tools = []) => {
    try {
      return { text: (await renderTemplate({ ...input, messages, tools }, settings)).text };
    } catch (error) {
      if (error instanceof ChatTemplateError && error.cause instanceof JinjaError) return { text: "", error };
      throw error;
    }
  };
  const parts = await wantsParts(probe);
  const system = await hasSystem(probe, parts);
  const plain = { system, parts, tools: true, calls: "object", parallel: true, results: true } as const;
  return withTools ? { ...plain, ...await findToolTraits(probe, parts) } : plain;
}

/** A template that shows nothing of a text, but its parts, wants these. */
async function wantsParts(probe: Probe): Promise<boolean> {
  const asText = await probe([messagesFor(false).question]);
  if (asText.text.includes("probe-question")) return false;
  return (await probe([messagesFor(true).question])).text.includes("probe-question");
}

/** Whether a template fails other than by refusing: it is then given the same form all the same, and its error says why. */
function fails({ error }: Outcome): boolean {
  return error !== undefined && !(error.cause instanceof JinjaError && error.cause.kind === "TemplateError");
}

async function hasSystem(probe: Probe, parts: boolean): Promise<boolean> {
  const { system, question } = messagesFor(parts);
  const shown = await probe([system, question]);
  return shown.text.includes("probe-system") || fails(shown);
}

async function findToolTraits(
  probe: Probe,
  parts: boolean,
): Promise<Pick<TemplateTraits, "tools" | "calls" | "parallel" | "results">> {
  const { question, answer, result, call } = messagesFor(parts);
  const told = await probe([question], [tool]);
  const tools = told.text.includes("probe_tool") || fails(told);
  const shown = async (args: unknown): Promise<Outcome> =>
    await probe([question, call(args), result, answer, question], [tool]);
  let failed = false;
  const parallel = async (args: unknown): Promise<boolean> => {
    const two = await probe([question, call(args, args), result, result, answer, question], [tool]);
    return two.error === undefined || fails(two);
  };
  const forms = [["object", { probe_key: "probe-value" }], ["text", '{"probe_key":"probe-value"}']] as const;
  for (const [calls, args] of forms) {
    const one = await shown(args);
    if (shows(one)) return { tools, calls, parallel: await parallel(args), results: one.text.includes("probe-result") };
    failed ||= fails(one);
  }
  if (tools && failed) return { tools, calls: "object", parallel: true, results: true };
  // Some tell of tools and show results, but leave the calls to the answer's text.
  const { text } = tools ? await probe([question, answer, result, answer, question], [tool]) : { text: "" };
  return { tools, calls: undefined, parallel: true, results: text.includes("probe-result") };
}

/** Whether a call is there with its argument, beside the tool. */
function shows({ text }: Outcome): boolean {
  return text.includes("probe-value") && text.split("probe_tool").length > 2;
}
