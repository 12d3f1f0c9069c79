const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Days of the year before a date. */
function dayOfYear(date: Date): number {
  const midnight = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight - Date.UTC(date.getFullYear(), 0, 1)) / 86_400_000);
}

/** The year and week of ISO 8601. */
function isoWeek(date: Date): { year: number; week: number } {
  const weekday = (date.getDay() + 6) % 7;
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() - weekday + 3);
  return { year: thursday.getFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 };
}

/** Python's `strftime` of a local time without a zone, in the C locale. */
export function strftime(date: Date, format: string): string {
  const pad = (value: number, width = 2, fill = "0"): string => String(value).padStart(width, fill);
  const hour12 = date.getHours() % 12 === 0 ? 12 : date.getHours() % 12;
  const codes: Readonly<Record<string, () => string>> = {
    "%": () => "%",
    a: () => days[date.getDay()]?.slice(0, 3) ?? "",
    A: () => days[date.getDay()] ?? "",
    b: () => months[date.getMonth()]?.slice(0, 3) ?? "",
    B: () => months[date.getMonth()] ?? "",
    c: () => strftime(date, "%a %b %e %H:%M:%S %Y"),
    C: () => pad(Math.floor(date.getFullYear() / 100)),
    d: () => pad(date.getDate()),
    D: () => strftime(date, "%m/%d/%y"),
    e: () => pad(date.getDate(), 2, " "),
    f: () => pad(date.getMilliseconds() * 1000, 6),
    F: () => strftime(date, "%Y-%m-%d"),
    g: () => pad(isoWeek(date).year % 100),
    G: () => String(isoWeek(date).year),
    h: () => strftime(date, "%b"),
    H: () => pad(date.getHours()),
    I: () => pad(hour12),
    j: () => pad(dayOfYear(date) + 1, 3),
    k: () => pad(date.getHours(), 2, " "),
    l: () => pad(hour12, 2, " "),
    m: () => pad(date.getMonth() + 1),
    M: () => pad(date.getMinutes()),
    n: () => "\n",
    p: () => date.getHours() < 12 ? "AM" : "PM",
    P: () => date.getHours() < 12 ? "am" : "pm",
    r: () => strftime(date, "%I:%M:%S %p"),
    R: () => strftime(date, "%H:%M"),
    s: () => String(Math.floor(date.getTime() / 1000)),
    S: () => pad(date.getSeconds()),
    t: () => "\t",
    T: () => strftime(date, "%H:%M:%S"),
    u: () => String(date.getDay() === 0 ? 7 : date.getDay()),
    U: () => pad(Math.floor((dayOfYear(date) + 7 - date.getDay()) / 7)),
    V: () => pad(isoWeek(date).week),
    w: () => String(date.getDay()),
    W: () => pad(Math.floor((dayOfYear(date) + 7 - (date.getDay() + 6) % 7) / 7)),
    x: () => strftime(date, "%m/%d/%y"),
    X: () => strftime(date, "%H:%M:%S"),
    y: () => pad(date.getFullYear() % 100),
    Y: () => String(date.getFullYear()),
    z: () => "",
    Z: () => "",
  };
  return format.replace(/%(-?)([a-zA-Z%])/g, (found: string, bare: string, code: string) => {
    const text = codes[code]?.();
    if (text === undefined) return found;
    return bare === "" ? text : text.replace(/^[0 ]+(?=\d)/, "");
  });
}
