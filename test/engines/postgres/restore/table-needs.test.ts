import { expect, test } from 'vitest';
import type { ArchiveEntry } from '../../../../src/engines/postgres/dump/archive-contents.ts';
import { needsOf } from '../../../../src/engines/postgres/restore/table-needs.ts';
import type { Manifest } from '../../../../src/repository/manifest/manifest.ts';

/** As pg_dump 13 writes them: younger ones have entries besides that attach partitions. */
const ENTRIES = [
  entry(201, 'TABLE a'),
  entry(202, 'TABLE a b'),
  entry(203, 'TABLE log'),
  entry(204, 'TABLE log_1', [203]),
  entry(205, 'TABLE log_1_1', [204]),
  entry(206, 'TABLE heir', [201]),
  entry(300, 'TABLE DATA a', [201]),
  entry(303, 'TABLE DATA heir', [206]),
  entry(400, 'CONSTRAINT a a_pkey', [201]),
  entry(401, 'FK CONSTRAINT a b to a', [201, 400, 202]),
  entry(402, 'FK CONSTRAINT a itself', [201, 400, 201]),
  entry(403, 'FK CONSTRAINT log log_fkey', [400, 203, 201]),
];

function entry(dumpId: number, text: string, needs: number[] = []): ArchiveEntry {
  const [, kind = '', tag = ''] = /^([A-Z ]+) (.*)$/.exec(text) ?? [];
  const nothing = { class: 0, oid: 0, definition: '', accessMethod: '', line: '' };
  return { ...nothing, text, dumpId, kind, schema: 'public', tag, needs };
}

function data(table: string, schema = 'public') {
  return { schema, table, columns: ['id'], of_extension: false };
}

const details = {
  schemas: [{ oid: 2200, name: 'public' }],
  data: {
    '300.dat': data('a'),
    '301.dat': data('a b'),
    '302.dat': data('log_1_1'),
    '303.dat': data('heir'),
  },
  extensions: [],
  roles: [],
  locale: { encoding: 'UTF8', collate: 'C', ctype: 'C', provider: 'c', icu_locale: null },
  settings: [],
  inventory: {
    objects: { table: ['public.a', 'public.a b', 'public.heir', 'public.log', 'public.log_1', 'public.log_1_1'] },
    sequences: [],
  },
  left_out: [],
};

function told(): string[] {
  const needs = needsOf(ENTRIES, { details } as unknown as Manifest);
  return needs.map(({ table, needed_by, why }) => `${needed_by} needs ${table}: ${why}`).sort();
}

test('needs are read from the archive: references, also those that partitions inherit, and parts', () => {
  expect(told()).toEqual([
    'public.a b needs public.a: reference',
    'public.a needs public.heir: part',
    'public.log needs public.a: reference',
    'public.log needs public.log_1: part',
    'public.log_1 needs public.a: reference',
    'public.log_1 needs public.log_1_1: part',
    'public.log_1_1 needs public.a: reference',
  ]);
});
