/**
 * Transcriptions as text, subtitles, tables and JSON.
 *
 * @module
 */

export { type JsonLayers, type JsonModel, type JsonOptions, type JsonParams, toJson } from "./json.ts";
export { type KaraokeOptions, toKaraoke } from "./karaoke.ts";
export { type SrtOptions, toLrc, toSrt, toWebVtt, type WordTimesOptions } from "./subtitles.ts";
export { toCsv, toText, toTsv } from "./tables.ts";
