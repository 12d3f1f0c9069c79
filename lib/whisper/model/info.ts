import type { Native } from "../../../ffi/native.ts";
import type { WhisperSettings } from "./load_options.ts";
import type { LoadedWhisper } from "../thread/protocol.ts";

/** Facts about a loaded model. Plain data. */
export interface WhisperInfo {
  /** The path it was loaded from; `undefined` for bytes. */
  path: string | undefined;
  /** whisper.cpp's name of its size, such as `"tiny"`. C: `whisper_model_type_readable`. */
  size: string;
  /** Whether it is multilingual. C: `whisper_is_multilingual`. */
  multilingual: boolean;
  /** Tokens of its vocabulary. C: `n_vocab`. */
  vocabularySize: number;
  /** Context length of the encoder in frames. C: `n_audio_ctx`. */
  audioContext: number;
  /** Attention heads of the encoder. C: `n_audio_head`. */
  audioHeads: number;
  /** Layers of the encoder. C: `n_audio_layer`. */
  audioLayers: number;
  /** Context length of the decoder in tokens. C: `n_text_ctx`. */
  textContext: number;
  /** Attention heads of the decoder. C: `n_text_head`. */
  textHeads: number;
  /** Layers of the decoder. C: `n_text_layer`. */
  textLayers: number;
  /** Width of its layers. C: `n_audio_state`. */
  width: number;
  /** Mel bands. C: `n_mels`. */
  melBands: number;
  /** The type of the large tensors, such as `"f16"`. */
  weightType: string;
  /** The number of that type in the file. C: `whisper_model_ftype`. */
  fileType: number;
  /** Processor features in use. C: `whisper_print_system_info`. */
  systemInfo: string;
  /** Maximum number of compute threads. */
  threads: number;
  /** Maximum number of concurrent transcriptions. */
  parallel: number;
}

/** Collects the facts about a loaded model. */
export function whisperInfo(
  native: Native,
  { numbers, size, multilingual, fileType, systemInfo }: LoadedWhisper,
  { threads, parallel }: WhisperSettings,
  path: string | undefined,
): Readonly<WhisperInfo> {
  const { weightType, ...sizes } = numbers;
  return Object.freeze({
    path,
    size,
    multilingual,
    ...sizes,
    weightType: native.readCString(native.lib.ggml_type_name(weightType as never)),
    fileType,
    systemInfo,
    threads,
    parallel,
  });
}
