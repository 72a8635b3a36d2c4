import { aroundChange, changedParts } from '../../../presentation/shapes/changed-part.ts';
import type { Tone } from '../../../presentation/shapes/glyphs.ts';
import type { Grid, GridColumn, GridPlace, StyledText } from '../../../presentation/shapes/grid.ts';
import type { RowsDiff } from '../../../results/review/diff-results.ts';
import { formatCount } from '../../../text/format.ts';
import { escaped } from '../../../text/printable.ts';
import { gridColumn, type ShownValue, shownValue } from '../rows/value-text.ts';
import type { RecordField } from './record-text.ts';

/** A row that was added, removed or changed; values in the order of the columns of the table. */
export interface DiffRecord {
  before: ShownValue[] | null;
  after: ShownValue[] | null;
  /** Indexes of the columns whose value changed. */
  changed: Set<number>;
}

/** In the order of the samples, a changed row as one record. */
export function diffRecords({ columns, samples, cut = [] }: RowsDiff): DiffRecord[] {
  const lengths = new Map(cut.map(({ row, column, bytes }) => [`${row} ${column}`, bytes]));
  const valuesOf = (at: number): ShownValue[] =>
    columns.map(({ masked: isMasked }, column) =>
      shownValue(samples[at]?.values[column], { isMasked, bytes: lengths.get(`${at} ${column}`) }),
    );
  return samples.flatMap(({ change, changed_columns = [] }, at): DiffRecord[] => {
    if (change === 'added') return [{ before: null, after: valuesOf(at), changed: new Set() }];
    if (change === 'removed') return [{ before: valuesOf(at), after: null, changed: new Set() }];
    if (change === 'before') return [];
    const names = new Set(changed_columns);
    const changed = new Set(columns.flatMap(({ name }, index) => (names.has(name) ? [index] : [])));
    const before = valuesOf(at - 1);
    const after = valuesOf(at).map((value, index) => {
      const isCut = changed.has(index) && !value.isMasked && value.text === before[index]?.text;
      return isCut ? { ...value, text: `${value.text} differs later` } : value;
    });
    return [{ before, after, changed }];
  });
}

const SIGNS: Record<'added' | 'removed' | 'changed', { text: string; tone: Tone }> = {
  added: { text: '+', tone: 'good' },
  removed: { text: '-', tone: 'bad' },
  changed: { text: '~', tone: 'caution' },
};

function kindOf({ before, after }: DiffRecord): keyof typeof SIGNS {
  return before && after ? 'changed' : after ? 'added' : 'removed';
}

function signOf(record: DiffRecord): { text: string; tone: Tone } {
  return SIGNS[kindOf(record)];
}

/** Order of the columns: the key, those that changed, the others. */
export function columnOrder({ columns, key }: KeyColumns, records: DiffRecord[] = []): number[] {
  const changed = new Set(records.flatMap((record) => [...record.changed]));
  const all = columns.map((_, index) => index);
  const isKey = (index: number): boolean => key.includes(columns[index]?.name ?? '');
  const keys = key.map((name) => columns.findIndex((column) => column.name === name));
  const others = all.filter((index) => !isKey(index));
  return [
    ...keys.filter((index) => index !== -1),
    ...others.filter((index) => changed.has(index)),
    ...others.filter((index) => !changed.has(index)),
  ];
}

/** The key stays; of a changed row the old values are above the new ones, and the changed part of each is marked. */
export function diffGrid(rows: RowsDiff, records: DiffRecord[]): Grid<DiffRecord> {
  const order = columnOrder(rows, records);
  const changed = new Set(records.flatMap((record) => [...record.changed]));
  const columns = order.flatMap((index): GridColumn[] => {
    const column = rows.columns[index];
    if (!column) return [];
    const { name, masked } = column;
    const values = records.flatMap(({ before, after }) => [before?.[index], after?.[index]]);
    const pairs = masked
      ? records.flatMap((record) => (record.changed.has(index) ? [pairText(record, index)] : []))
      : [];
    return [{ ...gridColumn(name, [...values, ...pairs]), ...(changed.has(index) && { changed: true }) }];
  });
  const fixed = rows.key.length;
  return {
    columns,
    fixed,
    rows: records,
    sign: signOf,
    height: (record) => (hasTwoLines(record) ? 2 : 1),
    cell(record, place) {
      if (place.line > 0 && place.column < fixed) return [];
      return cellOf(record, { ...place, column: order[place.column] ?? 0 });
    },
  };
}

/** A masked value looks the same before and after: one line says that it changed. */
function hasTwoLines({ before, after, changed }: DiffRecord): boolean {
  return [...changed].some((index) => !(before?.[index]?.isMasked || after?.[index]?.isMasked));
}

/** With the widest arrow, where its room is measured. */
function pairText({ before, after }: DiffRecord, index: number, arrow = '->'): ShownValue {
  return { text: `${before?.[index]?.text} ${arrow} ${after?.[index]?.text}`, isMasked: true, isText: false };
}

function cellOf(record: DiffRecord, { line, column, width, glyphs }: GridPlace): StyledText[] {
  const { before, after, changed } = record;
  const [old, now] = [before?.[column], after?.[column]];
  if (!old || !now || !changed.has(column)) {
    const value = now ?? old;
    if (line === 0) return [plainCell(value, before ? (after ? 'plain' : 'bad') : 'good')];
    return [{ text: glyphs.same, tone: 'dim' }];
  }
  if (old.isMasked || now.isMasked) {
    if (line === 1) return [{ text: glyphs.same, tone: 'dim' }];
    return [{ text: pairText(record, column, glyphs.arrow).text, tone: 'caution' }];
  }
  const tone = line === 0 ? 'bad' : 'good';
  const shown = line === 0 ? old : now;
  if (!old.isText || !now.isText) return [{ text: shown.text, tone, bold: true }];
  const [was, is] = changedParts(old.text, now.text);
  const part = aroundChange(line === 0 ? was : is, width, glyphs.ellipsis);
  return [
    { text: part.before, tone },
    { text: part.changed, tone, bold: true },
    { text: part.after, tone },
  ];
}

function plainCell(value: ShownValue | undefined, tone: Tone): StyledText {
  if (!value) return { text: '' };
  return { text: value.text, tone: value.isText && !value.isMasked ? tone : 'dim' };
}

/** The columns of a record in the order of the grid; of a changed one only the key and those that changed, unless all are asked for. */
export function recordFields(
  record: DiffRecord,
  { rows, records, isWhole }: { rows: RowsDiff; records: DiffRecord[]; isWhole: boolean },
): { fields: RecordField[]; unchanged: number } {
  const { before, after, changed } = record;
  const tone = before && after ? 'plain' : signOf(record).tone;
  const fields = columnOrder(rows, records).flatMap((index): (RecordField & { isChanged: boolean })[] => {
    const name = escaped(rows.columns[index]?.name ?? '');
    const [old, now] = [before?.[index], after?.[index]];
    const isChanged = changed.has(index);
    if (isChanged && old && now) return [{ name, before: old, after: now, isChanged }];
    const only = now ?? old;
    return only ? [{ name, after: only, tone, isChanged }] : [];
  });
  if (isWhole || changed.size === 0) return { fields, unchanged: 0 };
  const shown = fields.filter(({ isChanged }) => isChanged);
  return { fields: shown, unchanged: fields.length - shown.length };
}

type KeyColumns = Pick<RowsDiff, 'columns' | 'key'>;

/** `id 17`, or the number of the row where there is no key. */
export function recordTitle({ before, after }: DiffRecord, keyed: KeyColumns, index: number): string {
  return titleOf(after ?? before ?? [], keyed, index);
}

/** The same of the values of a row. */
export function titleOf(values: ShownValue[], { key, columns }: KeyColumns, index: number): string {
  const parts = key.map((name) => {
    const at = columns.findIndex((column) => column.name === name);
    return `${escaped(name)} ${values[at]?.text ?? ''}`;
  });
  return parts.length > 0 ? parts.join(', ') : `row ${formatCount(index + 1)}`;
}
