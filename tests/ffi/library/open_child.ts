import process from "node:process";
import { open } from "../../../ffi/mod.ts";

const libraryPath = process.argv[2];
const native = await open(libraryPath === undefined ? {} : { libraryPath });
native.lib.ggml_type_size(1);
