/** The states that an object can be in when it is used, and which of them a class never gets into. */

import type { Api, ApiCall, ApiType } from "./api.ts";

/** The states that are told apart. */
export const states = ["fresh", "in use", "in callback", "disposed", "lost"] as const;

/** The state of an object when a call is made. */
export type State = typeof states[number];

const NO_END = "it isn't disposed";
const NO_WORK = "no work takes time on it";
const NO_THREAD = "no native thread works for it";
const ONLY_LENT = "it is there only within a callback";

/** The states that objects of a class are never in, and why. */
const absent: Readonly<Record<string, Partial<Record<State, string>>>> = {
  Registry: { disposed: NO_END },
  BackendModule: { disposed: NO_END },
  Device: { disposed: NO_END },
  BufferType: { disposed: NO_END },
  JsNode: { fresh: ONLY_LENT, "in use": ONLY_LENT, lost: "JavaScript runs on no native thread" },
  JsDevice: {
    lost: "JavaScript runs on no native thread",
    "in use": "it computes on the caller's thread, within callbacks",
  },
  BackendEvent: {
    "in use": "only devices in TypeScript have events here",
    lost: "JavaScript runs on no native thread",
  },
  GraphPlan: { "in use": "it computes on the caller's thread alone" },
  NativeGguf: { "in use": NO_WORK, lost: NO_THREAD },
  GgufFile: { lost: NO_THREAD },
  GrammarMatcher: { "in use": NO_WORK, disposed: NO_END, lost: NO_THREAD },
  SamplerCandidates: { fresh: ONLY_LENT, "in use": ONLY_LENT, lost: ONLY_LENT },
  Chat: { disposed: "it ends with its model" },
  Resampler: { "in use": NO_WORK, disposed: NO_END, lost: NO_THREAD },
};

const noObject = "it takes no object";
const isError = /Error$/;

/** The states that a call can be made in, and for the others why not. */
export function statesOf(call: ApiCall, api: Api): Record<State, string | undefined> {
  const reasons = {} as Record<State, string | undefined>;
  const owners = ownersOf(call, api);
  for (const state of states) {
    const against = owners.map((owner) => absent[owner]?.[state]);
    const always = state === "fresh" || state === "in callback";
    reasons[state] = owners.length === 0
      ? always ? undefined : noObject
      : against.every((one) => one !== undefined)
      ? against[0]
      : undefined;
  }
  return reasons;
}

/** The class whose object it is called on, or those of its arguments. */
function ownersOf(call: ApiCall, { classes }: Api): string[] {
  const own = call.kind === "method" || call.kind === "getter" || call.kind === "setter";
  if (own) return isError.test(call.owner) ? [] : [call.owner];
  const found = new Set<string>();
  for (const { type } of call.parameters) collect(type, found);
  return [...found].map((name) => aliases[name] ?? name).filter((name) => classes.includes(name));
}

const aliases: Readonly<Record<string, string>> = { TensorReference: "Tensor", GraphReference: "Graph" };

function collect(type: ApiType, found: Set<string>): void {
  if (type.kind === "named") {
    found.add(type.name);
    type.of.forEach((one) => collect(one, found));
  }
  if (type.kind === "union" || type.kind === "tuple") type.of.forEach((one) => collect(one, found));
  if (type.kind === "array") collect(type.of, found);
}
