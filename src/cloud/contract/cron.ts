// A schedule is checked before it is stored: pg-boss would also store seconds, macros and random values.

interface Field {
  from: number;
  to: number;
  names?: string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: MONTHS },
  { from: 0, to: 7, names: DAYS },
];

/** Whether a text has the five fields of cron: minute, hour, day, month, day of the week. */
export function isCron(text: string): boolean {
  const fields = text.split(' ');
  return fields.length === FIELDS.length && FIELDS.every((field, index) => isField(fields[index] ?? '', field));
}

function isField(text: string, field: Field): boolean {
  return text.split(',').every((part) => {
    const [, range = '', step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    if (step !== undefined && (Number(step) < 1 || Number(step) > field.to)) return false;
    if (range === '*') return true;
    const ends = range.split('-');
    const [first = null, last = first] = ends.map((end) => numberOf(end, field));
    const isRange = first !== null && last !== null && first <= last && ends.length <= 2;
    return isRange && (step === undefined || ends.length === 2);
  });
}

function numberOf(text: string, { from, to, names = [] }: Field): number | null {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + from;
  const number = /^\d{1,2}$/.test(text) ? Number(text) : null;
  return number !== null && number >= from && number <= to ? number : null;
}

/** Whether a text names a time zone of the IANA database; an offset does not. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
