import { errorData } from '../cli/printers/error-text.ts';
import { UserError } from '../runtime/errors.ts';
import { printable } from '../text/printable.ts';

/** Characters of an answer's JSON; a model reads every one. */
const MOST_CHARACTERS = 50_000;
const LONGEST_TEXT = 2000;

/** Lengths of lists, tried in order: the first with which the answer is short enough. */
const LIST_LENGTHS = [200, 50, 20, 5, 1];
const MOST_CUTS = 20;

/** A list that was shortened. */
interface Cut {
  at: string;
  shown: number;
  total: number;
}

export type ToolAnswer = Record<string, unknown>;

/**
 * A result for a model: names, notes and comments from outside without control and bidirectional characters, texts and
 * lists of bounded length. `truncated` lists what was shortened.
 */
export function boundedAnswer(data: object, hide: (text: string) => string): ToolAnswer {
  for (const length of LIST_LENGTHS) {
    const cuts: Cut[] = [];
    const bounded = bound(data, { length, hide, at: '', cuts }) as ToolAnswer;
    const answer = cuts.length > 0 ? { ...bounded, truncated: cuts.slice(0, MOST_CUTS) } : bounded;
    if (JSON.stringify(answer).length <= MOST_CHARACTERS) return answer;
  }
  throw new UserError('result_too_large', 'The result is too large for an answer', {
    hint: 'Request less: one target instead of all, or later entries with offset.',
  });
}

/** Returns the error without a stack. */
export function errorAnswer(error: UserError, hide: (text: string) => string): ToolAnswer {
  return boundedAnswer({ error: errorData(error) }, hide);
}

interface Bounds {
  length: number;
  hide: (text: string) => string;
  at: string;
  cuts: Cut[];
}

function bound(value: unknown, bounds: Bounds): unknown {
  const { length, hide, at, cuts } = bounds;
  if (typeof value === 'string') return shortened(printable(hide(value)));
  if (Array.isArray(value)) {
    if (value.length > length) cuts.push({ at, shown: length, total: value.length });
    return value.slice(0, length).map((element, index) => bound(element, { ...bounds, at: `${at}[${index}]` }));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    const name = shortened(printable(hide(key)));
    return [name, bound(inner, { ...bounds, at: at === '' ? name : `${at}.${name}` })];
  });
  return Object.fromEntries(entries);
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
