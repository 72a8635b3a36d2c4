import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { Cell, Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import { briefName } from '../../presentation/snapshot.ts';
import type { ChangedTable, ChangesResult } from '../../results/review/changes-results.ts';
import { formatCount, formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { diffLines, NOT_COMPARED } from '../snapshots/diff/table-diff-text.ts';
import { changesColumns, sinceText } from './text.ts';
import type { MadeSql } from './write-sql.ts';

/** One line of the list of changes. */
export type ChangeEntry =
  | { kind: 'table'; id: string; table: ChangedTable }
  | { kind: 'definition'; id: string; definition: ChangesResult['definitions'][number] }
  | { kind: 'sequence'; id: string; sequence: ChangesResult['sequences'][number] }
  | { kind: 'large_objects'; id: string; count: number };

/** Tables by the size of their change, those that were not compared last; then definitions, sequences and large objects. */
export function changeEntries({ tables, definitions, sequences, large_objects: count }: ChangesResult): ChangeEntry[] {
  const sorted = tables.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  return [
    ...sorted.map((table): ChangeEntry => ({ kind: 'table', id: `table ${table.table}`, table })),
    ...definitions.map(
      (definition): ChangeEntry => ({ kind: 'definition', id: `definition ${definition.name}`, definition }),
    ),
    ...sequences.map((sequence): ChangeEntry => ({ kind: 'sequence', id: `sequence ${sequence.name}`, sequence })),
    ...(count > 0 ? [{ kind: 'large_objects' as const, id: 'large objects', count }] : []),
  ];
}

function sizeOf({ added, changed, removed, not_compared }: ChangedTable): number {
  return not_compared === undefined ? (added ?? 0) + (changed ?? 0) + (removed ?? 0) : -1;
}

export function entryName(entry: ChangeEntry): string {
  switch (entry.kind) {
    case 'table':
      return entry.table.table;
    case 'definition':
      return entry.definition.name;
    case 'sequence':
      return entry.sequence.name;
    case 'large_objects':
      return 'large objects';
    default:
      return entry satisfies never;
  }
}

const DEFINITION_NOTES = {
  added: { text: 'definition added', tone: 'good' },
  removed: { text: 'definition removed', tone: 'bad' },
  changed: { text: 'definition changed', tone: 'caution' },
} as const;

const SIGNS: Record<string, string> = { ADDED: '+', CHANGED: '~', REMOVED: '-' };

/** The columns of the tables, with the other changes in the last one. `narrow`: signs as titles. */
export function changeListColumns({ narrow }: { narrow: boolean }): Column<ChangeEntry>[] {
  return changesColumns().map(({ title, cell, brief: _, ...column }): Column<ChangeEntry> => {
    if (column.essential) return { ...column, title: 'NAME', cell: (entry) => ({ text: entryName(entry) }) };
    if (title === 'NOTE') return { ...column, title, essential: true, cell: noteOf };
    return {
      ...column,
      title: (narrow ? SIGNS[title] : undefined) ?? title,
      cell: (entry) => (entry.kind === 'table' ? cell(entry.table) : { text: '' }),
    };
  });
}

function noteOf(entry: ChangeEntry): Cell {
  switch (entry.kind) {
    case 'table':
      return tableNote(entry.table);
    case 'definition':
      return DEFINITION_NOTES[entry.definition.change];
    case 'sequence':
      return { text: sequenceText(entry.sequence) };
    case 'large_objects':
      return { text: `${formatCount(entry.count)} changed`, tone: 'caution' as const };
    default:
      return entry satisfies never;
  }
}

function sequenceText({ from, to }: ChangesResult['sequences'][number]): string {
  return `${from ?? 'none'} → ${to ?? 'none'}`;
}

/** The reason in full is beside or below the list. */
function tableNote({ change, not_compared }: ChangedTable): Cell {
  if (change !== 'changed')
    return change === 'added' ? { text: 'new table', tone: 'good' } : { text: 'dropped', tone: 'bad' };
  return { text: not_compared === undefined ? '' : 'not compared', tone: 'caution' };
}

/** `3 tables, 1 definition changed, 57 unchanged`, and `4 changes` where room is short. */
export function changesCount({ tables, definitions, sequences, unchanged }: ChangesResult) {
  const changed = definitions.length > 0 ? [formatNumberOf(definitions.length, 'definition')] : [];
  const names = [formatNumberOf(tables.length, 'table'), ...changed].join(', ');
  return {
    full: `${names} changed, ${formatCount(unchanged)} unchanged`,
    brief: formatNumberOf(tables.length + definitions.length + sequences.length, 'change'),
  };
}

/** `8c41f2ab RAW → now` */
export function sidesText({ since: { name, snapshot } }: ChangesResult): string {
  return `${name ?? briefName(snapshot)} → now`;
}

/** Bytes that a terminal takes for its clipboard. */
export const MOST_COPIED = 32 * 1024;

export function madeSqlText(made: MadeSql): string {
  const statements = formatNumberOf(made.statements, 'statement');
  return 'file' in made ? `Too large to copy. Wrote ${statements} to ${made.file}` : `Copied ${statements} of SQL`;
}

export const NOT_STORED = 'Not stored: only a save and the last load can be compared with';

export const REVEALED = 'revealed  ';

export const CHANGES_NOTICES = {
  reading: 'The database is still being read',
  nothing: 'No change is selected',
  noDetail: 'The list shows all of this change',
  masked: () => `SQL has all values, personal ones as well: press ${keyText('reveal')} to reveal them first`,
  noPoint: 'Only a save and the last load can be returned to; reset a branch on its list',
};

/** `Since the last load, of snapshot 8c41f2ab RAW, in postgres://localhost/shop_dev` */
export function sinceLine(result: ChangesResult): string {
  return `Since ${sinceText(result)}, in ${result.destination}`;
}

export function nothingChanged(result: ChangesResult): string[] {
  return [
    `Nothing changed in ${result.destination}`,
    `since ${sinceText(result)}.`,
    `${formatNumberOf(result.unchanged, 'table')} compared. Press Esc to go back.`,
  ];
}

/** The changes of the selected entry, for the pane of the list. */
export function changeFacts(entry: ChangeEntry): { title: string; facts: Fact[] } {
  return { title: printable(entryName(entry)), facts: factsOf(entry) };
}

function factsOf(entry: ChangeEntry): Fact[] {
  switch (entry.kind) {
    case 'table':
      return tableFacts(entry.table);
    case 'definition':
      return diffLines(entry.definition.diff).map(({ text, tone }) => ({ name: '', value: text, tone }));
    case 'sequence':
      return [{ name: 'Value', value: printable(sequenceText(entry.sequence)) }];
    case 'large_objects':
      return [{ name: 'Changed', value: formatNumberOf(entry.count, 'large object') }];
    default:
      return entry satisfies never;
  }
}

function tableFacts({ added, changed, removed, change, not_compared }: ChangedTable): Fact[] {
  const count = (name: string, value: number | null): Fact[] =>
    value === null ? [] : [{ name, value: formatNumberOf(value, 'row') }];
  return [
    ...(change === 'changed' ? [] : [{ name: 'Table', value: change === 'added' ? 'new' : 'dropped' }]),
    ...count('Added', added),
    ...count('Changed', changed),
    ...count('Removed', removed),
    ...(not_compared === undefined
      ? []
      : [{ name: 'Rows', value: NOT_COMPARED[not_compared], tone: 'caution' as const }]),
    ...(changed === null && not_compared === undefined
      ? [{ name: 'Key', value: 'none: a changed row counts as a removed and an added one' }]
      : []),
  ];
}
