/** Devices of another process. */

import process from "node:process";
import { connectRpc, RemoteBackend, type RemoteDevice, RpcServer } from "../../../../lib/ggml/mod.ts";
import type { Recipe } from "../../scene.ts";
import { context, products } from "./parts.ts";

let shared: RpcServer | undefined;

async function server(own: boolean): Promise<RpcServer> {
  if (own) return await RpcServer.start({ threads: 1 });
  if (shared === undefined || shared.disposed) shared = await RpcServer.start({ threads: 1 });
  return shared;
}

/** A graph on a server's device. */
const remoteBackend: Recipe = {
  name: "remote device",
  states: process.platform === "linux" ? ["fresh", "in use", "in callback", "disposed", "lost"] : [],
  async make(stage) {
    const { state } = stage;
    const one = await server(state === "lost" || state === "disposed");
    const { devices } = await connectRpc(one.endpoint);
    const remote = await RemoteBackend.open(devices[0] as RemoteDevice);
    const { context: made, tensors, graph } = products(await context(false), stage);
    await remote.allocate(made);
    stage.keep(remote, made, graph, ...tensors);
    // The one that other scenes use is not disposed.
    if (one !== shared) stage.keep(one);
    if (state === "in use") await stage.during(remote.compute(graph));
    if (state === "lost") {
      const work = remote.compute(graph);
      const end = setTimeout(() => process.kill(one.pid, "SIGKILL"), 30);
      await stage.lose(work).finally(() => clearTimeout(end));
    }
  },
};

/** The recipes. */
export const remote: readonly Recipe[] = [remoteBackend];
