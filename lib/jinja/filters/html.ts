const names: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\xa0" };

/** A text without HTML's comments and tags, and each run of white space as one space. */
export function stripTags(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = text.indexOf("<"); start >= 0; start = text.indexOf("<", at)) {
    const close = text.startsWith("<!--", start) ? "-->" : ">";
    const end = text.indexOf(close, start + 1);
    if (end < 0) break;
    parts.push(text.slice(at, start));
    at = end + close.length;
  }
  parts.push(text.slice(at));
  return parts.join("").split(/\s+/).filter((word) => word !== "").join(" ").replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi,
    (found: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return names[name] ?? found;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : found;
    },
  );
}

/** A text as a part of a URL: of its query when `isQuery`, where a space is a plus and a slash isn't left. */
export function urlQuote(text: string, isQuery: boolean): string {
  const encoded = encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return isQuery ? encoded.replaceAll("%20", "+") : encoded.replaceAll("%2F", "/");
}
