import type { GgufHeader } from "../../gguf/header.ts";
import type { ModelFacts } from "../thread/protocol.ts";

/** Facts about a loaded model. Plain data. */
export interface ModelInfo extends ModelFacts {
  /** The path of the file. */
  path: string;
  /** The architecture, such as `"llama"`. C: `general.architecture`. */
  architecture: string | undefined;
  /** The name that its makers gave it. C: `general.name`. */
  name: string | undefined;
  /** The chat template, in Jinja. C: `tokenizer.chat_template`. */
  chatTemplate: string | undefined;
}

/** Returns the facts about a model that was loaded from a file with this header. */
export function modelInfo({ metadata }: GgufHeader, path: string, facts: ModelFacts): Readonly<ModelInfo> {
  const text = (key: string): string | undefined => {
    const value = metadata.get(key);
    return typeof value === "string" ? value : undefined;
  };
  return Object.freeze({
    path,
    architecture: text("general.architecture"),
    name: text("general.name"),
    chatTemplate: text("tokenizer.chat_template"),
    ...facts,
  });
}
