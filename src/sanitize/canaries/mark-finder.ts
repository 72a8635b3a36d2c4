import { createFieldScanner, type FieldScanner, type FieldScannerOptions } from '../leaks/stored-fields.ts';
import type { MarkSearch } from './canary-marks.ts';

/** A part of a mark, or one in another encoding: its column is not known. */
const UNKNOWN_MARK = -1;

/** Numbers of marks by their ids. */
export type MarkHits = Map<number, number>;

export interface MarkFinder {
  /** Searches bytes; `isFirst`: they do not continue the last ones. */
  feed(bytes: Buffer, isFirst: boolean): void;
  hits(): MarkHits;
}

/** Bytes before a piece that a mark may begin in. */
const TAIL_BYTES = 64;

export function createMarkFinder(wanted: MarkSearch): MarkFinder {
  const { forms, tokens, encoded } = wanted;
  const found: MarkHits = new Map();
  const bare: MarkHits = new Map();
  let others = 0;
  let tail = '';
  const add = (id: number, hits = found): void => void hits.set(id, (hits.get(id) ?? 0) + 1);

  function search(text: string, from: number): void {
    const lower = text.toLowerCase();
    for (const { prefix, length, isUnique } of forms) {
      for (let at = lower.indexOf(prefix); at >= 0; at = lower.indexOf(prefix, at + 1)) {
        if (at + length <= from) continue;
        const id = tokens.get(lower.slice(at, at + length));
        if (id !== undefined) add(id);
        else if (isUnique) add(UNKNOWN_MARK);
      }
    }
    const unbroken = text.includes('\n') || text.includes('\\n') ? text.replaceAll(LINE_ENDS, '') : text;
    for (const { text: part, exact } of encoded) {
      const at = (exact ? unbroken : lower).indexOf(part);
      if (at >= 0 && (unbroken !== text || at + part.length > from)) add(UNKNOWN_MARK);
    }
    const reformatted = findReformatted(lower, wanted);
    for (const { id, end } of reformatted.found) if (end > from) add(id);
    for (const { id, end } of reformatted.bare) {
      if (end <= from) continue;
      if (id === undefined) others += 1;
      else add(id, bare);
    }
  }

  return {
    hits() {
      // Numbers that no person has are among them: they are ids, not dates.
      const isOfDates = others === 0;
      return isOfDates ? merged(found, bare) : found;
    },
    feed(bytes, isFirst) {
      const before = isFirst ? '' : tail;
      const text = before + bytes.toString('latin1');
      search(text, before.length);
      tail = text.slice(-TAIL_BYTES);
    },
  };
}

/** Base64 has them, and a document has escaped ones. */
const LINE_ENDS = /(?:\\[rn]|[\r\n])+/g;

function merged(first: MarkHits, second: MarkHits): MarkHits {
  const all = new Map(first);
  for (const [id, count] of second) all.set(id, count + (all.get(id) ?? 0));
  return all;
}

interface MarkedRows extends Pick<FieldScannerOptions, 'format'> {
  search: MarkSearch;
  columns: number;
}

/** Searches stored rows by column; `hits` after all rows are pushed. */
export function createMarkScanner({ format, search, columns }: MarkedRows): {
  scanner(): FieldScanner;
  hits(): MarkHits[];
} {
  const finders = Array.from({ length: columns }, () => createMarkFinder(search));
  return {
    hits: () => finders.map(({ hits }) => hits()),
    scanner: () =>
      createFieldScanner({
        format,
        isWanted: () => true,
        onPiece: ({ column, bytes, from, to, isFirst }) =>
          finders[column]?.feed(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from), isFirst),
      }),
  };
}

/** Marks that a query has written in another form, in the order of the text. */
interface ReformattedMarks {
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
function findReformatted(text: string, { tokens, digits }: Pick<MarkSearch, 'tokens' | 'digits'>): ReformattedMarks {
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
