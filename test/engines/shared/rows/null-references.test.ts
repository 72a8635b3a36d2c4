import { expect, test } from 'vitest';
import {
  type ForeignKey,
  findDangling,
  nullConditions,
  nullWhere,
} from '../../../../src/engines/shared/rows/null-references.ts';

/** `r(t, b) → big(t, id)` */
function key(text: string, more: Partial<ForeignKey> = {}): ForeignKey {
  const [, table = '', columns = '', to = '', referenced = ''] = /^(\w+)\((.*)\) → (\w+)\((.*)\)$/.exec(text) ?? [];
  const [own, other] = [columns.split(', '), referenced.split(', ')];
  return {
    name: text,
    tables: [table],
    columns: own,
    references: [to],
    referencedColumns: other,
    isFull: false,
    ...more,
  };
}

interface Columns {
  required?: string[];
  unique?: string[];
}

function find(keys: ForeignKey[], tables: Record<string, Columns> = {}) {
  const columnsOf = new Map(
    Object.entries(tables).map(([table, { required = [], unique = [] }]) => [
      table,
      { required: new Map(required.map((column) => [column, ''])), unique: new Set(unique) },
    ]),
  );
  return findDangling(keys, { excluded: new Set(['big', 'big2']), columnsOf });
}

const nulledIn = (...given: Parameters<typeof find>) =>
  find(...given).map(({ table, nulled }) => `${table}: ${nulled.join(', ')}`);

test('a key to a column that becomes NULL dangles, too, at any distance', () => {
  const keys = [key('u(y) → s(x)'), key('s(x) → r(b)'), key('r(b) → big(id)'), key('s(z) → r(id)')];
  expect(nulledIn(keys)).toEqual(['r: b', 's: x', 'u: y']);
  const [, strict] = find(keys, { s: { required: ['x'] } });
  expect(strict).toMatchObject({
    table: 's',
    references: 'r',
    because: 'b',
    nulled: [],
    obstacles: new Map([['x', '']]),
  });
});

test('only the column of a key becomes NULL that no other key needs', () => {
  const shared = key('r(t) → tenant(id)');
  expect(nulledIn([key('r(t, b) → big(t, id)'), shared])).toEqual(['r: b']);
  expect(nulledIn([key('r(b, t) → big(id, t)'), shared])).toEqual(['r: b']);
  expect(nulledIn([key('r(t, b) → big(t, id)'), key('r(t, c) → big2(t, id)')], { r: { unique: ['c'] } })).toEqual([
    'r: b',
    'r: t',
  ]);
  expect(nulledIn([key('r(t, b) → big(t, id)')], { r: { required: ['t'] } })).toEqual(['r: b']);
  const [refused] = find([key('r(t, b) → big(t, id)'), shared], { r: { required: ['b'] } });
  expect(refused?.nulled).toEqual([]);
  expect([...(refused?.obstacles ?? [])]).toEqual([
    ['t', 'foreign key r(t) → tenant(id)'],
    ['b', ''],
  ]);
});

test('a key that becomes NULL itself no longer needs its column, whatever the order', () => {
  const keys = [key('r(b) → big(id)'), key('s(x) → r(b)'), key('s(x, y) → big(id, y)')];
  for (const given of [keys, keys.toReversed()]) {
    expect(nulledIn(given, { s: { required: ['y'] } }).toSorted()).toEqual(['r: b', 's: x', 's: x']);
  }
});

test('all columns of a MATCH FULL key become NULL, or none', () => {
  const full = key('r(t, b) → big(t, id)', { isFull: true });
  expect(nulledIn([full])).toEqual(['r: t, b']);
  expect(nulledIn([full], { r: { required: ['t'] } })).toEqual(['r: ']);
});

test('a key to a partitioned table of which some partitions keep their rows cannot become NULL', () => {
  expect(find([key('r(b) → big(id)', { references: ['big', 'small'] })])).toMatchObject([
    { nulled: [], obstacles: null },
  ]);
  expect(nulledIn([key('r(b) → big(id)', { references: ['big', 'big2'] })])).toEqual(['r: b']);
});

test('only rows that reference a row are changed', () => {
  const quote = (name: string) => `"${name}"`;
  const conditions = (keys: ForeignKey[], tables: Record<string, Columns> = {}) =>
    [...(nullConditions(find(keys, tables), quote).get('r') ?? [])].map(([column, where]) =>
      nullWhere(where, quote(column)),
    );
  expect(conditions([key('r(b) → big(id)')])).toEqual(['NULL']);
  expect(conditions([key('r(t, b) → big(t, id)')])).toEqual([
    'CASE WHEN ("t" IS NOT NULL AND "b" IS NOT NULL) THEN NULL ELSE "b" END',
  ]);
  const two = [key('r(t, b) → big(t, id)'), key('r(t, c) → big2(t, id)')];
  expect(conditions(two, { r: { required: ['b', 'c'] } })).toEqual([
    'CASE WHEN ("t" IS NOT NULL AND "b" IS NOT NULL) OR ("t" IS NOT NULL AND "c" IS NOT NULL) THEN NULL ELSE "t" END',
  ]);
  expect(conditions([...two, key('r(t) → big(id)')], { r: { required: ['b', 'c'] } })).toEqual(['NULL']);
});
