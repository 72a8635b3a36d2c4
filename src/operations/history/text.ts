import type { Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import { kindBadge } from '../../presentation/snapshot.ts';
import type { HistoryEntry, HistoryList } from '../../results/history-results.ts';
import { formatBytes, formatDuration, formatNumberOf, formatTime } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

export const NO_HISTORY = 'The history is empty: builds, loads and transfers are recorded when they end';

const OUTCOMES: Record<HistoryEntry['outcome'], { glyph: 'good' | 'bad' | 'caution'; tone: Tone }> = {
  done: { glyph: 'good', tone: 'good' },
  failed: { glyph: 'bad', tone: 'bad' },
  cancelled: { glyph: 'caution', tone: 'caution' },
};

export function historyColumns({ glyphs }: { glyphs: Glyphs }): Column<HistoryEntry>[] {
  return [
    { title: 'TIME', whole: true, cell: ({ at }) => ({ text: formatTime(at) }) },
    {
      title: 'OUTCOME',
      whole: true,
      cell: ({ outcome }) => ({
        text: `${glyphs[OUTCOMES[outcome].glyph]} ${outcome}`,
        tone: OUTCOMES[outcome].tone,
      }),
    },
    { title: 'OPERATION', whole: true, cell: ({ operation }) => ({ text: operation }) },
    { title: 'TARGET', cell: ({ target }) => ({ text: printable(target) }) },
    { title: 'SNAPSHOT', whole: true, dropRank: 1, cell: (entry) => ({ text: printable(snapshotOf(entry)) }) },
    {
      title: 'DURATION',
      align: 'right',
      whole: true,
      dropRank: 2,
      cell: ({ duration_ms }) => ({ text: formatDuration(duration_ms) }),
    },
    { title: 'FROM / TO', grows: true, dropRank: 3, cell: (entry) => ({ text: placesOf(entry) }) },
  ];
}

/** `save NAME`, or the id of a snapshot */
function snapshotOf({ save, snapshot }: HistoryEntry): string {
  return save === undefined ? (snapshot ?? '') : `save ${save}`;
}

/** `into postgres://…/app_dev`, `from …`, `feature-a, feature-b` */
function placesOf({ operation, from, to, branches }: HistoryEntry): string {
  if (branches.length > 0) return printable(branches.join(', '));
  if (operation === 'verify') return to === null ? '' : `in ${printable(to)}`;
  const reads = operation === 'build' || operation === 'save' || operation === 'pull' || operation === 'import';
  if (reads || to === null) return from === null ? '' : `from ${printable(from)}`;
  return `${operation === 'push' ? 'to' : 'into'} ${printable(to)}`;
}

const METHODS: Record<NonNullable<HistoryEntry['method']>, string> = {
  full: 'full load of all tables',
  difference: 'difference to the base copy',
  tables: 'selected tables',
  rows: 'rows of tables, in place',
  script: 'SQL file',
};

export function historyFacts(entry: HistoryEntry): { title: string; facts: Fact[] } {
  const { at, operation, target, outcome, error, duration_ms, snapshot, sanitized, from, to, branches } = entry;
  const { save, method, after_load, size_bytes, swap_ms } = entry;
  const data = sanitized === null ? null : kindBadge(sanitized).text;
  const facts: [string, string | null][] = [
    ['Time', formatTime(at)],
    ['Outcome', error === null ? outcome : `${outcome}: ${error}`],
    ['Duration', formatDuration(duration_ms)],
    ['Snapshot', snapshot && [snapshot, data].filter(Boolean).join(' ')],
    ['Save', save ?? null],
    ['From', from],
    ['To', to],
    ['Branches', branches.join(', ') || null],
    ['Method', method && METHODS[method]],
    ['After load', after_load === undefined ? null : formatNumberOf(after_load, 'step')],
    ['Size', size_bytes === null ? null : formatBytes(size_bytes)],
    ['Unavailable', swap_ms === null ? null : formatDuration(swap_ms)],
  ];
  return {
    title: `${operation} ${printable(target)}`,
    facts: facts.flatMap(([name, value]) =>
      value === null
        ? []
        : [{ name, value: printable(value), ...(name === 'Outcome' && { tone: OUTCOMES[outcome].tone }) }],
    ),
  };
}

/** Below the table: what it does not show. */
export function historyNotes({ entries, damaged_lines }: HistoryList, shown: number): string[] {
  const older = entries.length - shown;
  return [
    ...(older > 0 ? [`${formatNumberOf(older, 'older entry', 'older entries')} not shown: add --json`] : []),
    ...(damaged_lines > 0 ? [damagedText(damaged_lines)] : []),
  ];
}

export function damagedText(lines: number): string {
  return `${formatNumberOf(lines, 'damaged line')} of the history skipped`;
}
