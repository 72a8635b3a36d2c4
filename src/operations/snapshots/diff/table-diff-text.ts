import { keyText } from '../../../config/keys/keys-in-effect.ts';
import type { Tone } from '../../../presentation/shapes/glyphs.ts';
import type { StyledText } from '../../../presentation/shapes/grid.ts';
import { briefName } from '../../../presentation/snapshot.ts';
import type { RowsDiff, TableDiff } from '../../../results/review/diff-results.ts';
import { formatCount, formatNumberOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import { valueCell } from '../rows/rows-text.ts';

export interface ToneLine {
  text: string;
  tone: Tone;
}

/** `public.orders: 8c41f2ab RAW, then 1b2c3d4e RAW` */
export function tableDiffTitle({ table, from, to }: TableDiff): string {
  return printable(`${table}: ${briefName(from)}, then ${briefName(to)}`);
}

const SIGNS = { added: '+', removed: '-', same: ' ' };
const TONES: Record<keyof typeof SIGNS, Tone> = { added: 'good', removed: 'bad', same: 'dim' };

/** A unified diff of the definitions, then the rows; `how` says how masked values are revealed. */
export function tableDiffLines(changes: TableDiff, { how }: { how: string }): ToneLine[] {
  return [...definitionText(changes), { text: '', tone: 'plain' }, ...rowLines(changes, how)];
}

export const DEFINITION = 'Definition';
const DEFINITION_UNKNOWN = 'Definition: its format in these snapshots is unknown';

function definitionText({ definition }: TableDiff): ToneLine[] {
  if (definition === null) return [{ text: DEFINITION_UNKNOWN, tone: 'caution' }];
  if (definition.length === 0) return [{ text: 'Definition: unchanged', tone: 'dim' }];
  return [{ text: DEFINITION, tone: 'strong' }, ...diffLines(definition)];
}

/** On the screens, above definition and rows: what changed in how many rows, and what is not shown of it. */
export function differenceNotices({
  definition,
  rows,
  rows_not_compared,
}: Pick<TableDiff, 'definition' | 'rows' | 'rows_not_compared'>): StyledText[][] {
  const masked = rows?.columns.filter((column) => column.masked).length ?? 0;
  const reveals = `${keyText('reveal')} reveals ${formatNumberOf(masked, 'column')} of personal data`;
  return [
    ...(definition === null ? [[{ text: DEFINITION_UNKNOWN, tone: 'caution' as const }]] : []),
    ...(rows ? [countParts(rows)] : []),
    ...(rows_not_compared ? [[{ text: `Rows: ${NOT_COMPARED[rows_not_compared]}`, tone: 'caution' as const }]] : []),
    ...(masked > 0 ? [[{ text: reveals, tone: 'dim' as const }]] : []),
  ];
}

/** `+3 added   -0 removed   ~5 changed` */
function countParts({ added, removed, changed, samples }: RowsDiff): StyledText[] {
  if (samples.length === 0) return [{ text: 'Rows: the same, in another order', tone: 'dim' }];
  const part = (count: number, word: string, { sign, tone }: { sign: string; tone: Tone }): StyledText => ({
    text: `${sign}${formatCount(count)} ${word}   `,
    tone: count > 0 ? tone : 'dim',
  });
  const shown = samples.filter(({ change }) => change !== 'before').length;
  const all = added + removed + (changed ?? 0);
  return [
    part(added, 'added', { sign: '+', tone: 'good' }),
    part(removed, 'removed', { sign: '-', tone: 'bad' }),
    changed === null
      ? { text: 'without a key   ', tone: 'dim' }
      : part(changed, 'changed', { sign: '~', tone: 'caution' }),
    ...(shown < all ? [{ text: `first ${formatCount(shown)} rows`, tone: 'caution' as const }] : []),
  ];
}

export function diffLines(diff: NonNullable<TableDiff['definition']>): ToneLine[] {
  return diff.map(({ change, text }) => ({ text: `${SIGNS[change]} ${printable(text)}`, tone: TONES[change] }));
}

export const NOT_COMPARED = {
  columns_differ: 'not compared: no column is in both',
  too_large: 'not compared: too many or too large rows differ',
  one_side: 'only one of the snapshots has the table',
};

function rowLines({ rows, rows_not_compared }: TableDiff, how: string): ToneLine[] {
  if (!rows) return [{ text: `Rows: ${NOT_COMPARED[rows_not_compared ?? 'too_large']}`, tone: 'caution' }];
  return [{ text: `Rows: ${countsText(rows)}`, tone: 'strong' }, ...sampleLines(rows, how)];
}

/** The first rows of each kind; of a changed one its key, and each changed column as it was and as it is. */
export function sampleLines({ columns, key, samples }: RowsDiff, how: string): ToneLine[] {
  if (samples.length === 0) return [];
  const masked = columns.filter((column) => column.masked).length;
  const names = columns.map(({ name }) => name);
  const shown = samples.map(({ values }) => values.map((value) => valueCell(value).text));
  return [
    ...(masked > 0
      ? [{ text: `Personal data masked in ${formatNumberOf(masked, 'column')}. ${how}`, tone: 'dim' as const }]
      : []),
    { text: `  ${printable(names.join(' | '))}`, tone: 'dim' },
    ...samples.flatMap(({ change, changed_columns = [] }, at): ToneLine[] => {
      const values = shown[at] ?? [];
      if (change === 'before') return [];
      if (change !== 'after') return [{ text: `${SIGNS[change]} ${values.join(' | ')}`, tone: TONES[change] }];
      const before = shown[at - 1] ?? [];
      const textIn = (row: string[], name: string): string => row[names.indexOf(name)] ?? '';
      const keys = key.map((name) => `${name} ${textIn(values, name)}`).join(', ');
      const changes = changed_columns.map((name) => `${name}: ${textIn(before, name)} → ${textIn(values, name)}`);
      return [{ text: `~ ${keys}: ${changes.join(', ')}`, tone: 'caution' }];
    }),
  ];
}

function countsText({ added, removed, changed, samples }: RowsDiff): string {
  if (samples.length === 0) return 'the same, in another order';
  const counts = `${formatCount(added)} added, ${formatCount(removed)} removed`;
  return changed === null ? `${counts}; keys not compared` : `${counts}, ${formatCount(changed)} changed`;
}
