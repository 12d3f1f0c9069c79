// bunfig.toml has this loaded before the tests: models load and answer longer than Bun's five seconds.
import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(300_000);
