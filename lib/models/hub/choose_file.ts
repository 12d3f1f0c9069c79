import { InvalidArgumentError } from "../../../base/errors.ts";
import { partName } from "../parts.ts";
import { hubName, type HubReference } from "./reference.ts";

/** Chosen when several files are there and none is named. */
const DEFAULT_QUANTIZATION = "Q4_K_M";
const MAX_SHOWN = 20;

/**
 * Chooses the file of a model: the one of the named quantization; else Q4_K_M, else the only one.
 *
 * Throws {@linkcode InvalidArgumentError}, which lists the files there are.
 */
export function chooseHubFile(reference: HubReference, files: readonly string[]): string {
  const models = files.filter(isModel).sort();
  const { quantization } = reference;
  if (quantization === undefined && models.length === 1) return models[0] ?? "";
  const wanted = quantization ?? DEFAULT_QUANTIZATION;
  const [found, second] = models.filter((path) => isOf(path, wanted));
  if (found !== undefined && second === undefined) return found;
  throw refusal(reference, models, found !== undefined);
}

/** Whether a file is a language model, of several parts the first; projectors and importance matrices have names of their own. */
function isModel(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!/\.gguf$/i.test(name) || /mmproj|imatrix/i.test(name)) return false;
  return (partName(name)?.number ?? 1) === 1;
}

/** Whether a file's name, or its folder's, ends with a quantization. */
function isOf(path: string, quantization: string): boolean {
  const words = path.toLowerCase().replace(/(-\d{5}-of-\d{5})?\.gguf$/, "").split("/");
  const wanted = quantization.toLowerCase();
  return words.some((word) => word === wanted || word.endsWith(`-${wanted}`) || word.endsWith(`.${wanted}`));
}

function refusal(reference: HubReference, models: readonly string[], several: boolean): InvalidArgumentError {
  const name = hubName(reference);
  const shown = models.slice(0, MAX_SHOWN).join(", ");
  const more = models.length > MAX_SHOWN ? `, and ${models.length - MAX_SHOWN} others` : "";
  const reason = models.length === 0
    ? "there is no GGUF file"
    : `${several ? "several files fit" : "no file fits"}; there are ${shown}${more}`;
  return new InvalidArgumentError(`${name}: ${reason}; name one: hf:${reference.repo}/file.gguf`, {
    value: name,
    expected: "a model with one file that fits",
  });
}
