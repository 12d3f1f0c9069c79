/** Names the format of a file by its first bytes, for messages. */
const signatures: readonly (readonly [at: number, bytes: string, name: string])[] = [
  [0, "ID3", "MP3"],
  [0, "\xff\xfb", "MP3"],
  [0, "\xff\xf3", "MP3"],
  [0, "\xff\xf2", "MP3"],
  [0, "\xff\xf1", "AAC"],
  [0, "\xff\xf9", "AAC"],
  [0, "fLaC", "FLAC"],
  [0, "OggS", "Ogg (Vorbis or Opus)"],
  [4, "ftyp", "MP4 (M4A)"],
  [0, "\x1aE\xdf\xa3", "Matroska or WebM"],
  [8, "AIFF", "AIFF"],
  [8, "AIFC", "AIFF"],
  [0, "caff", "Core Audio"],
  [0, "#!AMR", "AMR"],
  [0, ".snd", "AU"],
  [0, "riff", "Wave64"],
  [0, "RIFX", "big-endian WAV"],
  [8, "AVI ", "AVI"],
  [8, "WEBP", "a picture (WebP)"],
  [0, "\x30\x26\xb2\x75", "Windows Media"],
  [0, "GGUF", "a model (GGUF), no audio"],
  [0, "lmgg", "a model of whisper.cpp, no audio"],
  [0, "\x89PNG", "a picture (PNG)"],
  [0, "\xff\xd8\xff", "a picture (JPEG)"],
  [0, "%PDF", "a PDF"],
  [0, "PK\x03\x04", "a ZIP archive"],
  [0, "\x1f\x8b", "compressed (gzip)"],
];

/** The name of a kind of file by its first bytes. */
export function containerName(start: Uint8Array): string {
  const text = String.fromCharCode(...start.subarray(0, 16));
  const known = signatures.find(([at, bytes]) => text.startsWith(bytes, at));
  return known?.[2] ?? `something that starts with ${JSON.stringify(text.slice(0, 4))}`;
}
