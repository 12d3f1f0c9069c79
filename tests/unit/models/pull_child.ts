/** Pulls a model into the cache, and writes its SHA-256. */
import process from "node:process";
import { pullModel } from "../../../lib/models/pull.ts";

process.stdout.write("\n");
const { files } = await pullModel(process.argv[2] ?? "");
process.stdout.write(`${files[0]?.sha256}\n`);
process.exit(0);
