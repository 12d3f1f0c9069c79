import process from "node:process";
import { NativeThread, open } from "../../../ffi/mod.ts";
import type { tasks } from "./entry.ts";

const thread = await NativeThread.start<typeof tasks>(open(), { entry: new URL("./entry.ts", import.meta.url) });
await thread.run("echo", 1);
if (process.argv[2] === "pending") {
  let sum = 0;
  thread.run("post", 1000, { onMessage: (value) => sum += value }).then(() => console.log("result", sum));
}
console.log("end of main");
