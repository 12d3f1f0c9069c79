// The Worker of a program, which uses the library in it.
import { moments } from "./moments.ts";

/** What the Worker is to do. */
export interface WorkerTask {
  readonly moment: string;
}

/** What the Worker says: that it listens, and that native code is under way. */
export type WorkerAnswer = "ready" | "inside";

interface Scope {
  onmessage: ((event: MessageEvent<WorkerTask>) => void) | null;
  postMessage(answer: WorkerAnswer): void;
}

const scope = globalThis as unknown as Scope;
scope.onmessage = ({ data }) => {
  void moments[data.moment]?.(() => scope.postMessage("inside"));
};
scope.postMessage("ready");
