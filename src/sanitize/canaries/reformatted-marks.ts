import type { MarkSearch } from './canary-marks.ts';

/** Marks that a query has written in another form, in the order of the text. */
export interface ReformattedMarks {
  /** Ids of marks, with the end of each. */
  found: { id: number; end: number }[];
  /** Dates without separators: as many numbers as real ids may look like one. */
  bare: { id: number | undefined; end: number }[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Letters have a limit, since each repetition in the text would read all that follow. */
const MONTH = `(${MONTHS.join('|')})[a-z]{0,9}`;
const DAY = '(\\d\\d?)(?:st|nd|rd|th)?';
const YEAR = '(18[1-3]\\d)';
/** JSON may have a backslash before a slash. */
const SEPARATOR = '[-/. \\\\]{1,2}';

const ANY_YEAR = new RegExp(YEAR);

/** Each with the positions of year, month and day among its groups; day and month may be the other way round. */
const DATES = [
  { form: new RegExp(`(?<!\\d)${YEAR}(${SEPARATOR})(\\d\\d?)\\2(\\d\\d?)(?!\\d)`, 'g'), parts: [1, 3, 4] },
  { form: new RegExp(`(?<!\\d)(\\d\\d?)(${SEPARATOR})(\\d\\d?)\\2${YEAR}(?!\\d)`, 'g'), parts: [4, 3, 1] },
  { form: new RegExp(`(?<!\\d)${DAY}[-. ]{0,3}${MONTH}[-., ]{0,3}${YEAR}(?!\\d)`, 'g'), parts: [3, 2, 1] },
  { form: new RegExp(`${MONTH}[-. ]{0,3}${DAY}[-., ]{1,3}${YEAR}(?!\\d)`, 'g'), parts: [3, 1, 2] },
] as const;

const BARE_DATES = [
  { form: new RegExp(`(?<!\\d)${YEAR}(\\d\\d)(\\d\\d)(?!\\d)`, 'g'), parts: [1, 2, 3] },
  { form: new RegExp(`(?<!\\d)(\\d\\d)(\\d\\d)${YEAR}(?!\\d)`, 'g'), parts: [3, 2, 1] },
] as const;

/** Digits with what people write between those of a phone number. */
const NUMBERS = /\d[\d ()./\\-]{8,}\d/g;
const BETWEEN = /[^\d]+/g;

/** Finds phone numbers and dates in the text, which is in lower case. */
export function findReformatted(
  text: string,
  { tokens, digits }: Pick<MarkSearch, 'tokens' | 'digits'>,
): ReformattedMarks {
  const marks: ReformattedMarks = { found: [], bare: [] };
  for (const match of text.matchAll(NUMBERS)) {
    const number = match[0].replaceAll(BETWEEN, '');
    if (number.length === match[0].length) continue;
    for (let at = number.indexOf(digits); at >= 0; at = number.indexOf(digits, at + 1)) {
      const id = tokens.get(number.slice(at, at + 2 * digits.length));
      // One without separators is found as it is.
      if (id !== undefined && !match[0].includes(number.slice(at, at + 2 * digits.length))) {
        marks.found.push({ id, end: match.index + match[0].length });
      }
    }
  }
  if (!ANY_YEAR.test(text)) return marks;
  for (const { form, parts } of DATES) {
    for (const match of text.matchAll(form)) {
      const id = dateId(match, parts, tokens);
      if (id !== undefined && !ISO_DATE.test(match[0])) marks.found.push({ id, end: match.index + match[0].length });
    }
  }
  for (const { form, parts } of BARE_DATES) {
    for (const match of text.matchAll(form)) {
      marks.bare.push({ id: dateId(match, parts, tokens), end: match.index + match[0].length });
    }
  }
  return marks;
}

const ISO_DATE = /^\d{4}-\d\d-\d\d$/;

function dateId(
  match: RegExpExecArray,
  [year, month, day]: readonly [number, number, number],
  tokens: Map<string, number>,
): number | undefined {
  const [y, m, d] = [match[year] ?? '', monthNumber(match[month] ?? ''), match[day] ?? ''];
  return tokens.get(isoDate(y, m, d)) ?? tokens.get(isoDate(y, d, m));
}

function monthNumber(text: string): string {
  const named = MONTHS.indexOf(text);
  return named < 0 ? text : String(named + 1);
}

function isoDate(year: string, month: string, day: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}
