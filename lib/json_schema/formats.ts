/**
 * The formats of strings, as patterns of whole strings. Each allows no more than the usual validators do.
 *
 * @module
 */

const MONTH31 = "(?:0[13578]|1[02])";
const MONTH30 = "(?:0[469]|11)";
const LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const date = `(?:[0-9]{4}-(?:${MONTH31}-(?:0[1-9]|[12][0-9]|3[01])|${MONTH30}-(?:0[1-9]|[12][0-9]|30)` +
  `|02-(?:0[1-9]|1[0-9]|2[0-8]))|${LEAP_YEAR}-02-29)`;
const FRACTION = "(?:\\.[0-9]{1,9})?";
const TIME =
  `(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]${FRACTION}(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])|${leapSeconds()})`;

/** The last second of a day in UTC, which may be a leap second, by the clocks of the usual offsets. */
function leapSeconds(): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const times = [`23:59:60${FRACTION}[Zz]`];
  for (let hour = 0; hour < 24; hour++) {
    for (const half of [0, 30]) {
      const offset = hour * 60 + half;
      for (const sign of [1, -1]) {
        const local = (24 * 60 - 1 + sign * offset + 24 * 60) % (24 * 60);
        const clock = `${two(Math.floor(local / 60))}:${two(local % 60)}:60`;
        times.push(`${clock}${FRACTION}${sign > 0 ? "\\+" : "-"}${two(hour)}:${two(half)}`);
      }
    }
  }
  return times.join("|");
}

const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const ipv4 = `${BYTE}(?:\\.${BYTE}){3}`;
const H16 = "[0-9a-fA-F]{1,4}";
const ls32 = `(?:${H16}:${H16}|${ipv4})`;
const ipv6 = [
  `(?:${H16}:){6}${ls32}`,
  `::(?:${H16}:){5}${ls32}`,
  `(?:${H16})?::(?:${H16}:){4}${ls32}`,
  `(?:(?:${H16}:){0,1}${H16})?::(?:${H16}:){3}${ls32}`,
  `(?:(?:${H16}:){0,2}${H16})?::(?:${H16}:){2}${ls32}`,
  `(?:(?:${H16}:){0,3}${H16})?::${H16}:${ls32}`,
  `(?:(?:${H16}:){0,4}${H16})?::${ls32}`,
  `(?:(?:${H16}:){0,5}${H16})?::${H16}`,
  `(?:(?:${H16}:){0,6}${H16})?::`,
].join("|");

/** Four of 60 characters are less than the 253 that a host may have: nothing needs to be counted. */
const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,58}[a-zA-Z0-9])?";
const SHORT_LABEL = "[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*";
const ATOM = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+";
const DOMAIN_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?";
const email = `(?=[^@]{1,64}@)${ATOM}(?:\\.${ATOM})*@(?:${DOMAIN_LABEL}\\.){1,3}[a-zA-Z]{2,24}`;

const ESCAPED = "%[0-9a-fA-F]{2}";
const pchar = `(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|${ESCAPED})`;
const segments = `(?:/${pchar}*)*`;
const host = `(?:${SHORT_LABEL}(?:\\.${SHORT_LABEL})*|\\[(?:${ipv6})\\])`;
const tail = `(?:\\?(?:${pchar}|[/?])*)?(?:#(?:${pchar}|[/?])*)?`;
const uri = `[a-zA-Z][a-zA-Z0-9+.-]{0,30}:(?://${host}(?::[0-9]{1,5})?${segments}|/?${pchar}+${segments})${tail}`;

const DURATION = "P(?:[0-9]{1,9}W|(?=[0-9T])(?:[0-9]{1,9}Y)?(?:[0-9]{1,9}M)?(?:[0-9]{1,9}D)?" +
  "(?:T(?=[0-9])(?:[0-9]{1,9}H)?(?:[0-9]{1,9}M)?(?:[0-9]{1,9}S)?)?)";

/** The pattern of each format that is supported. */
export const formats: ReadonlyMap<string, string> = new Map(
  Object.entries({
    date,
    time: TIME,
    "date-time": `${date}[Tt]${TIME}`,
    uuid: "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    email,
    uri,
    ipv4,
    ipv6,
    hostname: `${LABEL}(?:\\.${LABEL}){0,3}`,
    duration: DURATION,
  }).map(([name, source]) => [name, `^(?:${source})$`]),
);
