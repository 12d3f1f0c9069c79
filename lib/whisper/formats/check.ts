import { isInstance, refuse } from "../../../base/check.ts";
import type { Segment, Token, Word } from "../transcribe/segment.ts";

const SEGMENT_WORDS = "an object with text, start and end in seconds, and arrays of words and tokens where it has some";
const TOKEN_WORDS = "an object with id, text, special and probability, and times in seconds where it has some";

/** Checks that segments can be written, and returns a copy of them. Throws InvalidArgumentError. */
export function checkSegments(where: string, segments: Iterable<Segment>): readonly Segment[] {
  const list = attempt((): unknown[] => [...segments]);
  if (typeof segments !== "object" || list === undefined) {
    return refuse(`the value given to ${where}`, segments, "an array of segments");
  }
  return list.map((one, index) => {
    const name = `segment ${index}`;
    return attempt(() => copySegment(name, one as Segment)) ?? refuse(name, one, SEGMENT_WORDS);
  });
}

/** Refuses by returning nothing; a Proxy that was revoked throws a TypeError on every access. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isInstance(error, TypeError)) return undefined;
    throw error;
  }
}

function copySegment(name: string, segment: Segment): Segment | undefined {
  const { text, start, end, tokens = [], words } = segment;
  if (typeof text !== "string" || !isTime(start) || !isTime(end)) return undefined;
  return {
    ...segment,
    text,
    start,
    end,
    tokens: tokens.map((token, index) =>
      attempt(() => copyToken(token)) ?? refuse(`${name}.tokens[${index}]`, token, TOKEN_WORDS)
    ),
    ...(words === undefined ? {} : {
      words: words.map((word, index) =>
        attempt(() => copyWord(word)) ?? refuse(`${name}.words[${index}]`, word, "an object with text, start and end")
      ),
    }),
  };
}

function copyToken(token: Token): Token | undefined {
  const { id, text, probability, start = 0, end = 0, bytes } = token;
  const isToken = typeof id === "number" && typeof text === "string" && typeof probability === "number";
  if (!isToken || !isTime(start) || !isTime(end)) return undefined;
  return bytes === undefined || isInstance(bytes, Uint8Array) ? { ...token } : undefined;
}

function copyWord(word: Word): Word | undefined {
  const { text, start, end } = word;
  return typeof text === "string" && isTime(start) && isTime(end) ? { ...word } : undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < 1e9;
}
