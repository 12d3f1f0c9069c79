import { joined } from "../../../ffi/memory/concat.ts";

/** A WAV file as a test wants it, right or wrong. */
export interface WavPlan {
  codec?: number;
  bits?: number;
  rate?: number;
  channels?: number;
  blockAlign?: number;
  /** The bytes of the samples. */
  data?: Uint8Array;
  /** What the data chunk announces, when that isn't their length. */
  dataSize?: number;
  container?: "RIFF" | "RF64" | "BW64";
  /** The size in the ds64 chunk of RF64. */
  longSize?: bigint;
  /** The codec goes into WAVE_FORMAT_EXTENSIBLE. */
  extensible?: boolean;
  /** Chunks between fmt and data. */
  between?: readonly (readonly [id: string, bytes: Uint8Array])[];
  /** Bytes after the samples. */
  after?: Uint8Array;
}

/** Builds the file. */
export function buildWav(plan: WavPlan): Uint8Array<ArrayBuffer> {
  const { codec = 1, bits = 16, rate = 16_000, channels = 1, data = new Uint8Array(0), container = "RIFF" } = plan;
  const blockAlign = plan.blockAlign ?? Math.ceil(bits / 8) * channels;
  const fmt = new DataView(new ArrayBuffer(plan.extensible ? 40 : 16));
  fmt.setUint16(0, plan.extensible ? 0xfffe : codec, true);
  fmt.setUint16(2, channels, true);
  fmt.setUint32(4, rate, true);
  fmt.setUint32(8, rate * blockAlign, true);
  fmt.setUint16(12, blockAlign, true);
  fmt.setUint16(14, bits, true);
  if (plan.extensible) {
    fmt.setUint16(16, 22, true);
    fmt.setUint16(18, bits, true);
    fmt.setUint16(24, codec, true);
    new Uint8Array(fmt.buffer).set(Uint8Array.fromHex("000000001000800000aa00389b71"), 26);
  }
  const long = new DataView(new ArrayBuffer(28));
  long.setBigUint64(8, plan.longSize ?? BigInt(data.length), true);
  const parts = [
    text("WAVE"),
    ...(container === "RIFF" ? [] : [chunk("ds64", new Uint8Array(long.buffer))]),
    chunk("fmt ", new Uint8Array(fmt.buffer)),
    ...(plan.between ?? []).map(([id, bytes]) => chunk(id, bytes)),
    chunk("data", data, plan.dataSize ?? (container === "RIFF" ? data.length : 0xffffffff)),
    plan.after ?? new Uint8Array(0),
  ];
  const body = joined(Uint8Array, parts);
  return joined(Uint8Array, [chunkHead(container, container === "RIFF" ? body.length : 0xffffffff), body]);
}

function chunk(id: string, bytes: Uint8Array, size: number = bytes.length): Uint8Array {
  return joined(Uint8Array, [chunkHead(id, size), bytes, new Uint8Array(bytes.length % 2)]);
}

function chunkHead(id: string, size: number): Uint8Array {
  const head = new Uint8Array(8);
  head.set(text(id));
  new DataView(head.buffer).setUint32(4, size, true);
  return head;
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}
