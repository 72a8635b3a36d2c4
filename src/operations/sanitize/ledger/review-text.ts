import { basename } from 'node:path';
import { keyText } from '../../../config/keys/keys-in-effect.ts';
import type { Column } from '../../../presentation/shapes/column.ts';
import type { Fact } from '../../../presentation/shapes/fact.ts';
import type { Glyphs, Tone } from '../../../presentation/shapes/glyphs.ts';
import { LEDGER_STATES, type LedgerEntry, type LedgerState } from '../../../sanitize/ledger/ledger.ts';
import { formatCount, formatNumberOf } from '../../../text/format.ts';
import { escaped } from '../../../text/printable.ts';
import type { LedgerReview, ReviewedItem } from './review.ts';

export interface ReviewRow extends ReviewedItem {
  /** The columns of its table that have a state, this one left out. */
  others: Map<LedgerState, string[]>;
}

/** Rows with the answers of this session, by name. */
export function reviewRows({ open, tables }: LedgerReview, answers: ReadonlyMap<string, LedgerEntry>): ReviewRow[] {
  return open.map((item) => {
    const columns = (tables.get(item.table ?? '') ?? []).filter(({ name }) => name !== item.name);
    const stateOf = (each: (typeof columns)[number]): LedgerState => answers.get(each.name)?.state ?? each.state;
    const others = new Map(
      [...Map.groupBy(columns, stateOf)].map(([state, of]) => [state, of.map(({ column }) => column)]),
    );
    return { ...item, entry: answers.get(item.name) ?? item.entry, others };
  });
}

const LOOKS: Record<LedgerState, { tone: Tone; glyph: keyof Glyphs }> = {
  changed: { tone: 'good', glyph: 'good' },
  kept: { tone: 'plain', glyph: 'good' },
  empty: { tone: 'dim', glyph: 'good' },
  excluded: { tone: 'dim', glyph: 'good' },
  open: { tone: 'caution', glyph: 'pending' },
};

export function reviewColumns({ glyphs }: { glyphs: Glyphs }): Column<ReviewRow>[] {
  return [
    {
      title: 'COLUMN',
      essential: true,
      cell: ({ name, entry }) => ({
        text: `${glyphs[LOOKS[entry.state].glyph]} ${escaped(name)}`,
        tone: LOOKS[entry.state].tone,
      }),
    },
    {
      title: 'CLASS',
      max: 32,
      cell: ({ entry }) => ({ text: entryText(entry), tone: LOOKS[entry.state].tone }),
    },
    { title: 'TYPE', dropRank: 2, max: 16, cell: ({ type }) => ({ text: type, tone: 'dim' }) },
    {
      title: 'MASKED VALUES',
      grows: true,
      dropRank: 1,
      cell: ({ samples }) => (samples.length === 0 ? { text: glyphs.none, tone: 'dim' } : { text: samples.join('  ') }),
    },
  ];
}

function entryText({ state, reason }: LedgerEntry): string {
  return state === 'kept' ? `kept: ${escaped(reason ?? '')}` : state;
}

const CLASSES: Record<LedgerState, string> = {
  changed: 'Changed',
  kept: 'Kept',
  empty: 'Empty',
  excluded: 'Excluded',
  open: 'Open',
};

/** The class, the values, and the other columns of the table by their classes. */
export function reviewFacts({ entry, samples, table, others, valuesLeft, type, values }: ReviewRow): Fact[] {
  const left = valuesLeft === null ? '' : ` (${formatNumberOf(valuesLeft, 'value')} in the result)`;
  return [
    { name: 'Class', value: entryText(entry), tone: LOOKS[entry.state].tone },
    { name: 'Type', value: `${[type, ...(values ? [escaped(values.join(', '))] : [])].join(': ')}${left}` },
    { name: 'Values', value: samples.join('  ') || 'no values' },
    ...(table === null ? [] : [{ name: 'Table', value: others.size === 0 ? table : `${table}, its other columns:` }]),
    ...LEDGER_STATES.flatMap((state): Fact[] => {
      const columns = others.get(state);
      return columns ? [{ name: `  ${CLASSES[state]}`, value: columns.join(', '), tone: LOOKS[state].tone }] : [];
    }),
  ];
}

/** `12 of 31 open` */
export function openText(rows: ReviewRow[]): string {
  const open = rows.filter(({ entry }) => entry.state === 'open').length;
  return open === 0
    ? `all ${formatCount(rows.length)} classified`
    : `${formatCount(open)} of ${formatCount(rows.length)} open`;
}

export function reviewQuestion(target: string): { path: string[]; question: string; lines: string[] } {
  return {
    path: [target, 'ledger'],
    question: `Classify the columns of ${target}?`,
    lines: [
      'The snapshot is restored into a throw-away database, and the sanitization query runs there.',
      'Columns that the ledger lacks are added to sanitize.lock.yml; existing entries stay.',
    ],
  };
}

export const REVIEW_ANSWERS = [
  { label: 'Cancel', value: 'leave' },
  { label: 'Classify the columns', value: 'go' },
];

export const REVIEW_NOTICES = {
  notOpen: 'The columns are not read yet',
  noAnswers: 'No answer to undo',
  reasonHint: 'why the values may stay, for reviewers',
  noReason: 'A column is kept with a reason',
};

export const NO_OPEN_COLUMNS = ['All columns are classified.', 'Press Esc to go back.'];

/** Returns why a class is not true of the result; `null` where it may be. */
export function notTrue({ name, valuesLeft, rows }: ReviewedItem, state: LedgerState): string | null {
  if (state === 'empty' && (valuesLeft ?? 0) > 0) {
    return `${name} has ${formatNumberOf(valuesLeft ?? 0, 'value')} after the query: it is not empty`;
  }
  if (state === 'excluded' && (rows ?? 0) > 0) {
    return `The table of ${name} has ${formatNumberOf(rows ?? 0, 'row')} after the query: it is not excluded`;
  }
  return null;
}

/** The last answer, and what is next. */
export function answeredText({ name, entry }: { name: string; entry: LedgerEntry }, left: number): string {
  const what = `${name} is ${entry.state}`;
  const next = left === 0 ? 'All columns are classified' : `${left} open`;
  return `${what}. ${next}. Press ${keyText('undo')} to undo`;
}

export function undoneText({ name, entry }: { name: string; entry: LedgerEntry }): string {
  return `${name} is ${entry.state} again`;
}

/** Before the reason that is typed. */
export function reasonLabel({ name }: { name: string }): string {
  return `Keep ${name} because:`;
}

export function savedInText(file: string): string {
  return `saved in ${basename(file)}`;
}
