const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** A text whose characters mean nothing in HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

const names: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\xa0" };

/** A text without HTML's comments and tags, and each run of white space as one space. */
export function stripTags(text: string): string {
  let plain = text;
  for (let start = plain.indexOf("<!--"); start >= 0; start = plain.indexOf("<!--", start)) {
    const end = plain.indexOf("-->", start);
    if (end < 0) break;
    plain = plain.slice(0, start) + plain.slice(end + 3);
  }
  const parts: string[] = [];
  let at = 0;
  for (let start = plain.indexOf("<"); start >= 0; start = plain.indexOf("<", at)) {
    const end = plain.indexOf(">", start);
    if (end < 0) break;
    parts.push(plain.slice(at, start));
    at = end + 1;
  }
  parts.push(plain.slice(at));
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
