/** Small models of other programs, as a test wants them. */

import { joined } from "../../../ffi/memory/concat.ts";

/** A tensor: its shape, and its numbers in row order. */
export interface SmallTensor {
  shape: readonly number[];
  values: Float32Array;
}

/** Sizes of a Whisper model that is as small as can be. */
export const small = { vocabulary: 12, width: 4, audioContext: 6, textContext: 5, layers: 1, mels: 80 } as const;

const { vocabulary, width, audioContext, textContext, mels } = small;

type Tensors = Map<string, SmallTensor>;

function filled(random: () => number) {
  return (...shape: number[]): SmallTensor => ({
    shape,
    values: Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, () =>
      // Such as 16-bit floats hold.
      Math.round((random() - 0.5) * 512) / 512),
  });
}

/** The tensors of transformers' Whisper. */
export function hfTensors(random: () => number): Tensors {
  const make = filled(random);
  const tensors: Tensors = new Map();
  const linear = (name: string, rows: number, columns: number, bias = true) => {
    tensors.set(`${name}.weight`, make(rows, columns));
    if (bias) tensors.set(`${name}.bias`, make(rows));
  };
  const norm = (name: string) => {
    for (const part of ["weight", "bias"]) tensors.set(`${name}.${part}`, make(width));
  };
  const attention = (name: string) => {
    for (const part of ["q_proj", "k_proj", "v_proj", "out_proj"]) {
      linear(`${name}.${part}`, width, width, part !== "k_proj");
    }
  };
  for (const [name, channels] of [["conv1", mels], ["conv2", width]] as const) {
    tensors.set(`model.encoder.${name}.weight`, make(width, channels, 3));
    tensors.set(`model.encoder.${name}.bias`, make(width));
  }
  tensors.set("model.encoder.embed_positions.weight", make(audioContext, width));
  tensors.set("model.decoder.embed_positions.weight", make(textContext, width));
  tensors.set("model.decoder.embed_tokens.weight", make(vocabulary, width));
  for (const side of ["encoder", "decoder"]) {
    norm(`model.${side}.layer_norm`);
    const layer = `model.${side}.layers.0`;
    norm(`${layer}.self_attn_layer_norm`);
    attention(`${layer}.self_attn`);
    if (side === "decoder") {
      norm(`${layer}.encoder_attn_layer_norm`);
      attention(`${layer}.encoder_attn`);
    }
    norm(`${layer}.final_layer_norm`);
    linear(`${layer}.fc1`, 4 * width, width);
    linear(`${layer}.fc2`, width, 4 * width);
  }
  return tensors;
}

/** The same model as CTranslate2 keeps it. */
export function ct2Tensors(hf: Tensors): Tensors {
  const tensors: Tensors = new Map();
  const get = (name: string) => hf.get(name) as SmallTensor;
  const stack = (...parts: SmallTensor[]): SmallTensor => ({
    shape: [parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0), ...(parts[0]?.shape.slice(1) ?? [])],
    values: Float32Array.from(parts.flatMap(({ values }) => [...values])),
  });
  const zeros: SmallTensor = { shape: [width], values: new Float32Array(width) };
  const norm = (to: string, from: string) => {
    tensors.set(`${to}/gamma`, get(`${from}.weight`));
    tensors.set(`${to}/beta`, get(`${from}.bias`));
  };
  const linear = (to: string, from: string) => {
    tensors.set(`${to}/weight`, get(`${from}.weight`));
    tensors.set(`${to}/bias`, get(`${from}.bias`));
  };
  const fused = (to: string, from: string, parts: readonly string[]) => {
    tensors.set(`${to}/weight`, stack(...parts.map((part) => get(`${from}.${part}.weight`))));
    tensors.set(`${to}/bias`, stack(...parts.map((part) => hf.get(`${from}.${part}.bias`) ?? zeros)));
  };
  for (const side of ["encoder", "decoder"]) {
    tensors.set(`${side}/position_encodings/encodings`, get(`model.${side}.embed_positions.weight`));
    tensors.set(`${side}/num_heads`, { shape: [], values: Float32Array.of(2) });
    norm(`${side}/layer_norm`, `model.${side}.layer_norm`);
    const [to, from] = [`${side}/layer_0`, `model.${side}.layers.0`];
    norm(`${to}/self_attention/layer_norm`, `${from}.self_attn_layer_norm`);
    fused(`${to}/self_attention/linear_0`, `${from}.self_attn`, ["q_proj", "k_proj", "v_proj"]);
    linear(`${to}/self_attention/linear_1`, `${from}.self_attn.out_proj`);
    if (side === "decoder") {
      norm(`${to}/attention/layer_norm`, `${from}.encoder_attn_layer_norm`);
      linear(`${to}/attention/linear_0`, `${from}.encoder_attn.q_proj`);
      fused(`${to}/attention/linear_1`, `${from}.encoder_attn`, ["k_proj", "v_proj"]);
      linear(`${to}/attention/linear_2`, `${from}.encoder_attn.out_proj`);
    }
    norm(`${to}/ffn/layer_norm`, `${from}.final_layer_norm`);
    linear(`${to}/ffn/linear_0`, `${from}.fc1`);
    linear(`${to}/ffn/linear_1`, `${from}.fc2`);
  }
  for (const name of ["conv1", "conv2"]) linear(`encoder/${name}`, `model.encoder.${name}`);
  tensors.set("decoder/embeddings/weight", get("model.decoder.embed_tokens.weight"));
  return tensors;
}

/** The bytes of CTranslate2's model.bin, version 6. `types` says which tensors are of 8-bit whole numbers, with their scales. */
export function ct2File(
  tensors: Tensors,
  scaled: readonly string[] = [],
  spec = "WhisperSpec",
): Uint8Array<ArrayBuffer> {
  const all = [...tensors].flatMap(
    ([name, { shape, values }]): (readonly [string, readonly number[], number, Uint8Array])[] => {
      if (!scaled.includes(name)) return [[name, shape, 4, bytesOf(new Float16Array(values))]];
      const scales = new Float32Array(shape[0] ?? 1).fill(64);
      return [
        [name, shape, 1, bytesOf(Int8Array.from(values, (value) => Math.round(value * 64)))],
        [`${name}_scale`, [scales.length], 0, bytesOf(scales)],
      ];
    },
  );
  const text = (value: string) => {
    const bytes = new TextEncoder().encode(`${value}\0`);
    return [u16(bytes.length), bytes];
  };
  return joined(Uint8Array, [
    u32(6),
    ...text(spec),
    u32(3, all.length),
    ...all.flatMap(([name, shape, type, bytes]) => [
      ...text(name),
      Uint8Array.of(shape.length),
      u32(...shape),
      Uint8Array.of(type),
      u32(bytes.length),
      bytes,
    ]),
    u32(0),
  ]);
}

/** The bytes of a safetensors file. */
export function safetensorsFile(tensors: Tensors, type: "F32" | "F16" | "BF16" = "F32"): Uint8Array<ArrayBuffer> {
  const encode = (values: Float32Array): Uint8Array => {
    if (type === "F32") return bytesOf(values.slice());
    if (type === "F16") return bytesOf(new Float16Array(values));
    return bytesOf(Uint16Array.from(new Uint32Array(values.slice().buffer), (bits) => bits >>> 16));
  };
  const header: Record<string, unknown> = { __metadata__: { format: "pt" } };
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [name, { shape, values }] of tensors) {
    const bytes = encode(values);
    header[name] = { dtype: type, shape, data_offsets: [at, at += bytes.length] };
    parts.push(bytes);
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  return joined(Uint8Array, [u32(json.length, 0), json, ...parts]);
}

/** The tensors of Silero's model. */
export function sileroTensors(random: () => number): Tensors {
  const make = filled(random);
  return new Map(Object.entries({
    "stft_conv.weight": make(258, 1, 256),
    "conv1.weight": make(128, 129, 3),
    "conv1.bias": make(128),
    "conv2.weight": make(64, 128, 3),
    "conv2.bias": make(64),
    "conv3.weight": make(64, 64, 3),
    "conv3.bias": make(64),
    "conv4.weight": make(128, 64, 3),
    "conv4.bias": make(128),
    "lstm_cell.weight_ih": make(512, 128),
    "lstm_cell.weight_hh": make(512, 128),
    "lstm_cell.bias_ih": make(512),
    "lstm_cell.bias_hh": make(512),
    "final_conv.weight": make(1, 128, 1),
    "final_conv.bias": make(1),
  }));
}

/** A vocabulary of as many tokens as a Whisper model has, byte by byte first. */
export function vocabularyText(): string {
  const printable = (byte: number) => byte >= 33 && byte <= 126 || byte >= 161 && byte <= 172 || byte >= 174;
  let next = 256;
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
  const words = Array.from({ length: 50_000 }, (_, index) => `Ġ${index}`);
  return [...bytes, ...words, "<|endoftext|>"].join("\n");
}

function bytesOf(array: ArrayBufferView<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function u16(value: number): Uint8Array {
  return bytesOf(Uint16Array.of(value));
}

function u32(...values: number[]): Uint8Array {
  return bytesOf(Uint32Array.from(values));
}
