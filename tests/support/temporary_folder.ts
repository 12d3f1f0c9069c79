import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is removed at the end of the block: `using folder = new TemporaryFolder()`. */
export class TemporaryFolder implements Disposable {
  readonly path: string = realpathSync(mkdtempSync(join(tmpdir(), "ggml-ffi-test-")));

  /** The path of a file in it. */
  file(name: string): string {
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
