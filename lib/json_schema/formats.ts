/**
 * The formats of strings, as patterns of whole strings. Each allows no more than the usual validators do.
 *
 * @module
 */

const month31 = "(?:0[13578]|1[02])";
const month30 = "(?:0[469]|11)";
const leapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const date = `(?:[0-9]{4}-(?:${month31}-(?:0[1-9]|[12][0-9]|3[01])|${month30}-(?:0[1-9]|[12][0-9]|30)` +
  `|02-(?:0[1-9]|1[0-9]|2[0-8]))|${leapYear}-02-29)`;
const time = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?" +
  "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";

const byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const ipv4 = `${byte}(?:\\.${byte}){3}`;
const h16 = "[0-9a-fA-F]{1,4}";
const ls32 = `(?:${h16}:${h16}|${ipv4})`;
const ipv6 = [
  `(?:${h16}:){6}${ls32}`,
  `::(?:${h16}:){5}${ls32}`,
  `(?:${h16})?::(?:${h16}:){4}${ls32}`,
  `(?:(?:${h16}:){0,1}${h16})?::(?:${h16}:){3}${ls32}`,
  `(?:(?:${h16}:){0,2}${h16})?::(?:${h16}:){2}${ls32}`,
  `(?:(?:${h16}:){0,3}${h16})?::${h16}:${ls32}`,
  `(?:(?:${h16}:){0,4}${h16})?::${ls32}`,
  `(?:(?:${h16}:){0,5}${h16})?::${h16}`,
  `(?:(?:${h16}:){0,6}${h16})?::`,
].join("|");

const label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const shortLabel = "[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*";
const atom = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+";
const domainLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?";
const email = `(?=[^@]{1,64}@)${atom}(?:\\.${atom})*@(?:${domainLabel}\\.){1,3}[a-zA-Z]{2,24}`;

const escaped = "%[0-9a-fA-F]{2}";
const pchar = `(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|${escaped})`;
const segments = `(?:/${pchar}*)*`;
const host = `(?:${shortLabel}(?:\\.${shortLabel})*)`;
const tail = `(?:\\?(?:${pchar}|[/?])*)?(?:#(?:${pchar}|[/?])*)?`;
const uri = `[a-zA-Z][a-zA-Z0-9+.-]{0,30}:(?://${host}(?::[0-9]{1,5})?${segments}|/?${pchar}+${segments})${tail}`;

const duration = "P(?:[0-9]{1,9}W|(?=[0-9T])(?:[0-9]{1,9}Y)?(?:[0-9]{1,9}M)?(?:[0-9]{1,9}D)?" +
  "(?:T(?=[0-9])(?:[0-9]{1,9}H)?(?:[0-9]{1,9}M)?(?:[0-9]{1,9}S)?)?)";

/** The pattern of each format that is supported. */
export const formats: ReadonlyMap<string, string> = new Map(
  Object.entries({
    date,
    time,
    "date-time": `${date}T${time}`,
    uuid: "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    email,
    uri,
    ipv4,
    ipv6,
    hostname: `${label}(?:\\.${label}){0,3}`,
    duration,
  }).map(([name, source]) => [name, `^(?:${source})$`]),
);
