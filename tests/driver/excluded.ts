/** Calls that the random driver doesn't make, each with its reason. */
export const excluded: ReadonlyMap<string, string> = new Map([
  ["connectRpc", "looks up host names and opens connections: tests/ggml/rpc and tests/model/rpc_test.ts try it"],
  ["RemoteBackend.connect", "as connectRpc"],
  ["RpcServer.start", "opens a port and a process each time: tests/model/rpc_test.ts tries it"],
  ["installLibraries", "fetches and writes files: tests/consumer/libraries_test.ts tries it"],
  ["Registry.unload", "takes a backend from all others of the process"],
]);
