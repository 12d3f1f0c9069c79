/** Objects of `./ggml`, brought into the states that a random driver calls them in. */

import type { Recipe } from "../../scene.ts";
import { files } from "./files.ts";
import { graphs } from "./graphs.ts";
import { remote } from "./remote.ts";
import { schedulers } from "./schedulers.ts";
import { training } from "./training.ts";

/** The recipes. */
export const recipes: readonly Recipe[] = [...graphs, ...schedulers, ...training, ...files, ...remote];
