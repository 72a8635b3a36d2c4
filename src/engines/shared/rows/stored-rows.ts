import { createRowScanner, valueText } from './row-scanner.ts';

/** A row of a small table as text by column; `null` for NULL. */
export type StoredRow = Record<string, string | null>;

/** The columns of the first statement of `--complete-insert`; all statements of a table have the same. */
const INSERT = /^INSERT INTO (?:`[^`]*`)+ \(((?:`[^`]*`|, ?)+)\) VALUES/;

/** The rows of a stored table: a row with more or fewer values than columns is left out. */
export function storedRows(text: string, columns: string[]): StoredRow[] {
  const [, list] = INSERT.exec(text) ?? [];
  const own = [...(list ?? '').matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = '']) => name.replaceAll('``', '`'));
  const names = list === undefined ? columns : own;
  const textOf = (value: string): string =>
    list === undefined || !/^0x(?:[0-9A-F]{2})+$/i.test(value) ? value : Buffer.from(value.slice(2), 'hex').toString();
  const rows: StoredRow[] = [];
  const scanner = createRowScanner({
    ...{ format: list === undefined ? 'copied' : 'inserted', mostBytes: Number.POSITIVE_INFINITY, emptyEnd: false },
    onRow({ values }) {
      const texts = values.map((value) => value && textOf(valueText(value)));
      if (texts.length === names.length) rows.push(rowOf(names, (index) => texts[index] ?? null));
      return true;
    },
  });
  scanner.push(Buffer.from(text));
  return rows;
}

export function rowOf(columns: string[], value: (index: number) => string | null): StoredRow {
  return Object.fromEntries(columns.map((column, index) => [column.toLowerCase(), value(index)]));
}
