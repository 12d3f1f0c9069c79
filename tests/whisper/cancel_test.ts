import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { open } from "../../ffi/mod.ts";
import { makeState } from "../../lib/whisper/thread/state.ts";
import { tinyEnglishPath } from "./files.ts";
import { jfkSamples } from "./support.ts";

// Elsewhere the backend of a state can't be found: an encoding is finished first.
const skip = process.platform !== "linux";

test(
  "an encoding stops at its next operator once its request is cancelled, and the state can be used again",
  { skip },
  async () => {
    const native = await open();
    const { lib } = native;
    const context = lib.whisper_init_from_file_with_params_no_state(
      tinyEnglishPath,
      native.defaults("whisper_context_params"),
    );
    const flag = lib.ggml_init(native.struct("ggml_init_params"));
    assert.ok(context !== null && flag !== null);
    const callback = native.symbol<"ggml_abort_callback">("ggml_get_no_alloc");
    const state = makeState(context, { native, lib, cancel: { callback, data: flag as never } });
    const samples = jfkSamples();
    assert.equal(lib.whisper_pcm_to_mel_with_state(context, state, samples, samples.length, 1), 0);
    for (const cancelled of [true, false, true]) {
      lib.ggml_set_no_alloc(flag, cancelled);
      // It is given no `abort_callback`: only the backend itself can stop it.
      assert.equal(lib.whisper_encode_with_state(context, state, 0, 1) === 0, !cancelled);
    }
    lib.whisper_free_state(state);
    lib.whisper_free(context);
    lib.ggml_free(flag);
  },
);
