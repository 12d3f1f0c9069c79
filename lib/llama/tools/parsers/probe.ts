/**
 * Calls that a template writes for a model to read: they tell how the model writes its own.
 *
 * @module
 */

/** The form in which a template takes the arguments of a call: an object, or JSON text. */
export type ArgumentsForm = "object" | "text";

/** The tool of the probes. */
export const PROBE_TOOL = "probe_tool";
/** The names of its arguments. */
export const PROBE_KEYS = ["probe_text", "probe_count"] as const;
/** The arguments of the two calls. */
export const PROBE_ARGUMENTS = [
  { probe_text: "probe-value", probe_count: 7391 },
  { probe_text: "probe-second", probe_count: 8264 },
] as const;

/** The tool, as parsers know it. */
export const probeTool = {
  name: PROBE_TOOL,
  parameters: {
    type: "object",
    properties: { probe_text: { type: "string" }, probe_count: { type: "integer" } },
    required: ["probe_text", "probe_count"],
  },
};

/** The tool, as templates know it. */
export const probeToolMessage = {
  type: "function",
  function: { name: PROBE_TOOL, description: "Probes", parameters: probeTool.parameters },
};

/** The length of calls beyond which a template isn't looked into: what it writes may be made to be slow to read. */
const MAX_CALLS = 4096;
/** The same for the end of a turn. */
const MAX_TURN_END = 512;
const ANSWER = "ΩanswerΩ";
const question = { role: "user", content: "probe-question" };

/** The conversations whose texts tell how calls are written. */
export interface ProbeTexts {
  /** Of the question, up to where an answer begins. */
  readonly prompt: string;
  /** With an answer of text. */
  readonly plain: string;
  /** With an answer that makes one call. */
  readonly one: string;
  /** With an answer that makes two; `undefined` for a template that refuses it. */
  readonly two: string | undefined;
}

/** The messages of these conversations. */
export function probeMessages(form: ArgumentsForm): Readonly<Record<keyof ProbeTexts, readonly object[]>> {
  const calls = PROBE_ARGUMENTS.map((args, index) => ({
    id: `probe000${index + 1}`,
    type: "function",
    function: { name: PROBE_TOOL, arguments: form === "object" ? args : JSON.stringify(args) },
  }));
  const calling = (count: number) => [question, {
    role: "assistant",
    content: "",
    tool_calls: calls.slice(0, count),
  }];
  return {
    prompt: [question],
    plain: [question, { role: "assistant", content: ANSWER }],
    one: calling(1),
    two: calling(2),
  };
}

/** The text that a template writes for answers with calls. */
export interface WrittenCalls {
  /** One call. */
  readonly one: string;
  /** Two calls; `undefined` when the template can't show them. */
  readonly two: string | undefined;
}

/** Returns the parts of the texts that are the answers with calls; `undefined` when the call isn't there. */
export function writtenCalls({ prompt, plain, one, two }: ProbeTexts): WrittenCalls | undefined {
  const first = answerIn(prompt, plain, one);
  if (first === undefined) return undefined;
  const both = two === undefined ? undefined : answerIn(prompt, plain, two);
  return { one: first, two: both !== undefined && both.includes(PROBE_ARGUMENTS[1].probe_text) ? both : undefined };
}

function answerIn(prompt: string, plain: string, text: string): string | undefined {
  const start = text.startsWith(prompt) ? prompt.length : markStart(text, commonPrefix(plain, text));
  const at = plain.indexOf(ANSWER);
  const tail = at < 0 ? "" : plain.slice(at + ANSWER.length);
  if (text.length - start > MAX_CALLS) return undefined;
  const answer = withoutTurnEnd(text.slice(start), tail.length > MAX_TURN_END ? "" : tail);
  return answer.includes(PROBE_TOOL) && answer.includes(PROBE_ARGUMENTS[0].probe_text) ? answer : undefined;
}

/** Marks at the end of a turn that makes calls, where it isn't the end of other turns. */
const turnEnds =
  /(\s*<[^\w/]*(eo[tm]\b|eom_id|eot_id|\w*eos\b|end_of_|im_end|return|start_of_turn|chatbot|special_)[^<>]*>)+\s*$/i;

/** An answer without the marks that end every turn, as far as they are the same, and without those that end a turn with calls. */
function withoutTurnEnd(answer: string, tail: string): string {
  const marks = tail.match(/<[^<>]*>\s*|[^<]+/g) ?? [];
  const end = marks.map((_, index) => marks.slice(index).join("")).find((one) => one !== "" && answer.endsWith(one));
  const rest = end === undefined ? answer : answer.slice(0, answer.length - end.length);
  return rest.replace(turnEnds, "");
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++;
  return length;
}

/** The start of the mark that a place lies in, or the place. */
function markStart(text: string, place: number): number {
  const opening = Math.max(text.lastIndexOf("<", place - 1), text.lastIndexOf("[", place - 1));
  return opening >= 0 && !/[>\]\s]/.test(text.slice(opening, place)) ? opening : place;
}
