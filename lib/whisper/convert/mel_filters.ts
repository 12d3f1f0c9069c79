/**
 * The mel filters that a whisper model file carries.
 *
 * @module
 */

const [sampleRate, fftSize] = [16_000, 400];
const [linearStep, firstLogHertz] = [200 / 3, 1_000];
const firstLogMel = firstLogHertz / linearStep;
const logStep = Math.log(6.4) / 27;

/** Number of frequencies of a filter. */
export const melFrequencies = fftSize / 2 + 1;

/** `count` rows of 201 weights: Slaney's scale, each filter of the same area. */
export function melFilters(count: number): Float32Array<ArrayBuffer> {
  const edges = Array.from({ length: count + 2 }, (_, index) => toHertz(melAt(index, count + 1)));
  const filters = new Float32Array(count * melFrequencies);
  for (let row = 0; row < count; row++) {
    const [left, middle, right] = edges.slice(row, row + 3) as [number, number, number];
    const area = 2 / (right - left);
    for (let bin = 0; bin < melFrequencies; bin++) {
      const hertz = bin * (sampleRate / 2 / (melFrequencies - 1));
      const rising = -(left - hertz) / (middle - left);
      const falling = (right - hertz) / (right - middle);
      const weight = Math.min(rising, falling);
      filters[row * melFrequencies + bin] = weight < 0 ? 0 : weight * area;
    }
  }
  return filters;
}

/** The edges stand at the same distances on the mel scale. */
function melAt(index: number, last: number): number {
  const top = firstLogMel + Math.log(sampleRate / 2 / firstLogHertz) / logStep;
  return index === last ? top : index * (top / last);
}

function toHertz(mel: number): number {
  return mel >= firstLogMel ? firstLogHertz * Math.exp(logStep * (mel - firstLogMel)) : linearStep * mel;
}
