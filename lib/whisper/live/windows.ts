/**
 * From endless audio to windows that are transcribed each by itself.
 *
 * @module
 */

/** Settings of windows. All lengths are in samples at 16 kHz. */
export interface WindowSettings {
  /** From which probability on a frame is speech. */
  threshold: number;
  /** A window with less speech is dropped. */
  minSpeech: number;
  /** Silence of this length ends a window. */
  minSilence: number;
  /** A window is no longer. */
  longest: number;
  /** Audio before the first speech that belongs to a window. */
  lead: number;
  /** Overlap of a window that was cut in speech with the next one. */
  overlap: number;
}

/** A window. */
export interface LiveWindow {
  /** Its samples. */
  samples: Float32Array<ArrayBuffer>;
  /** The number of its first sample, from the start of all. */
  start: number;
  /** The number of the first sample that the window before hadn't: words before it are that window's. */
  from: number;
  /** The number of the first sample behind it whose words are the next window's. */
  to: number;
}

/** Samples of one frame, which has one probability. */
export const FRAME_SIZE = 512;
/** Speech goes on while it is more probable than the threshold less this. */
const SLACK = 0.15;
/** A window that has become too long is cut in its last part, this much of it. */
const CUT_PART = 0.4;

/** Gathers frames into windows. It holds no more than the longest window and what comes before it. */
export class WindowGate {
  readonly #settings: WindowSettings;
  readonly #frames: Float32Array[] = [];
  readonly #probabilities: number[] = [];
  /** The number of the first sample that is held. */
  #start = 0;
  /** As in {@linkcode LiveWindow.from}. */
  #from = 0;
  #speaking = false;
  #speech = 0;
  #silence = 0;

  /** `settings` decides where windows begin and end. */
  constructor(settings: WindowSettings) {
    this.#settings = settings;
  }

  /** Samples that are held. */
  get held(): number {
    return this.#frames.length * FRAME_SIZE;
  }

  /** Takes a frame and the probability that it is speech; gives the window that it ends, if any. */
  push(frame: Float32Array, probability: number): LiveWindow | undefined {
    const { threshold, minSilence, longest } = this.#settings;
    this.#frames.push(frame);
    this.#probabilities.push(probability);
    if (probability >= threshold) {
      this.#speaking = true;
      this.#speech += FRAME_SIZE;
      this.#silence = 0;
    } else if (probability < Math.max(0.01, threshold - SLACK)) this.#silence += FRAME_SIZE;
    if (!this.#speaking) {
      this.#dropFront(Math.max(0, this.held - this.#settings.lead));
      return undefined;
    }
    if (this.#silence >= minSilence) return this.#close();
    return this.held >= longest ? this.#cut() : undefined;
  }

  /** The window under way, as it is now; `undefined` in silence. */
  current(): LiveWindow | undefined {
    return this.#speaking ? this.#window(this.#frames.length, this.#start + this.held) : undefined;
  }

  /** The last window, once there is no more audio. */
  end(): LiveWindow | undefined {
    return this.#speaking ? this.#close() : undefined;
  }

  #close(): LiveWindow | undefined {
    const enough = this.#speech >= this.#settings.minSpeech;
    const end = this.#start + this.held;
    const window = enough ? this.#window(this.#frames.length, end) : undefined;
    if (enough) this.#from = end;
    this.#speaking = false;
    this.#speech = 0;
    this.#dropFront(Math.max(0, this.held - this.#settings.lead));
    return window;
  }

  /** Ends a window in the middle of speech, where speech is least probable. */
  #cut(): LiveWindow {
    const first = Math.floor(this.#frames.length * (1 - CUT_PART));
    let at = first;
    for (let index = first; index < this.#frames.length; index++) {
      if ((this.#probabilities[index] as number) <= (this.#probabilities[at] as number)) at = index;
    }
    const cut = this.#start + at * FRAME_SIZE;
    const overlap = Math.ceil(this.#settings.overlap / FRAME_SIZE);
    const window = this.#window(Math.min(this.#frames.length, at + overlap), cut);
    this.#from = cut;
    this.#dropFront(Math.max(0, at - overlap) * FRAME_SIZE);
    this.#speech = this.#settings.minSpeech;
    return window;
  }

  #window(frames: number, to: number): LiveWindow {
    const samples = new Float32Array(frames * FRAME_SIZE);
    for (let index = 0; index < frames; index++) samples.set(this.#frames[index] as Float32Array, index * FRAME_SIZE);
    return { samples, start: this.#start, from: Math.max(this.#from, this.#start), to };
  }

  #dropFront(samples: number): void {
    const count = Math.floor(samples / FRAME_SIZE);
    if (count === 0) return;
    this.#frames.splice(0, count);
    this.#probabilities.splice(0, count);
    this.#start += count * FRAME_SIZE;
  }
}

/** Returns the RMS of a frame: a stand-in for a probability where there is no model for voice activity detection. */
export function loudness(frame: Float32Array): number {
  let sum = 0;
  for (const value of frame) sum += value * value;
  return Math.sqrt(sum / frame.length);
}
