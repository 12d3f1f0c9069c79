/** Calls that the random driver treats in a way of their own, each with its reason. */

import type { Api } from "./api.ts";

/** Calls that it doesn't make. */
const excluded: ReadonlyMap<string, string> = new Map([
  ["installLibraries", "fetches and writes files: tests/consumer/libraries_test.ts tries it"],
  ["pullModel", "fetches and writes files: tests/unit/models tries it"],
  ["pullDefaultModel", "as pullModel"],
  ["removeModel", "removes models: tests/unit/models tries it"],
  ["verifyModels", "reads all models: tests/unit/models tries it"],
  ["Registry.unload", "takes a backend from all others of the process"],
]);

/** Calls that mostly get wrong arguments, since right ones take long. */
export const costly: ReadonlyMap<string, string> = new Map([
  ["connectRpc", "looks up host names and opens connections"],
  ["RemoteBackend.open", "as connectRpc"],
  ["RpcServer.start", "starts a process"],
  ["loadModel", "reads a file and starts a thread"],
  ["loadWhisper", "reads a file and starts a thread"],
  ["Optimizer.create", "computes for a while"],
]);

/** Promises that settle when something ends of which nobody says when, so that nothing waits for them. */
export const endless: ReadonlySet<string> = new Set(["RpcServer.ended"]);

/** The calls that are never made, and why: these, and those that take an address, where nothing can be checked. */
export function excludedOf({ calls }: Api): Map<string, string> {
  const unsafe = calls.filter(({ parameters }) =>
    parameters.some(({ type }) => type.kind === "named" && type.name === "Pointer")
  );
  return new Map([...excluded, ...unsafe.map(({ title }) => [title, "takes an address"] as const)]);
}
