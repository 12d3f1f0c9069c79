/** Texts that are tokenized on each target: scripts, signs, spaces, control tokens, and one that is long. */
export const texts: readonly string[] = [
  "",
  " ",
  "Hello, world!",
  "  two spaces\tand a tab\n\n\nand lines\r\n",
  "The year 2024, 3.14159, 1e-9, 0xCAFE, 1,234,567.89",
  "Grüße aus Köln: ÄÖÜß, naïve façade, Ελληνικά, Русский, עברית, العربية",
  "日本語の文章です。中文也可以。한국어도 됩니다.",
  "👩‍👩‍👧‍👦 emoji 🏳️‍🌈 and a flag 🇫🇷, é as one and é as two",
  "<|im_start|>user\nno control tokens here<|im_end|>",
  "don't can't we'll I'm they've it's",
  "camelCase snake_case kebab-case SHOUTING",
  "\u0000\u0001\u007f\ufffd\u{10ffff}",
  "The quick brown fox jumps over the lazy dog. ".repeat(100),
];
