import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { DecodingSettings } from "../transcribe/options.ts";

/** The tokens that are never to be written, by number or because their text matches; `undefined` for none. */
export function suppressedTokens(
  native: Native,
  context: Pointer<"whisper_context">,
  { suppressTokens, suppressRegex }: DecodingSettings,
): Int32Array | undefined {
  if (suppressTokens.length === 0 && suppressRegex === undefined) return undefined;
  const { lib } = native;
  const size = lib.whisper_n_vocab(context);
  const wrong = suppressTokens.find((id) => id >= size);
  if (wrong !== undefined) {
    throw new InvalidArgumentError(`suppressTokens has ${wrong}, but the model's vocabulary has ${size} tokens`, {
      value: wrong,
      expected: `from 0 to ${size - 1}`,
    });
  }
  const ids = new Set(suppressTokens);
  if (suppressRegex !== undefined) {
    const end = lib.whisper_token_eot(context);
    for (let id = 0; id < end; id++) {
      if (suppressRegex.test(native.readCString(lib.whisper_token_to_str(context, id)))) ids.add(id);
    }
  }
  return Int32Array.from(ids);
}
