import { expect, test } from 'vitest';
import { parseArchiveList } from '../../../../src/engines/postgres/dump/archive.ts';
import { needsOf } from '../../../../src/engines/postgres/restore/table-needs.ts';
import type { Manifest } from '../../../../src/repository/manifest/manifest.ts';

/** As pg_dump 13 writes it: younger ones have entries besides that attach partitions. */
const LISTING = `;
201; 1259 16384 TABLE public a me
202; 1259 16394 TABLE public a b me
203; 1259 16400 TABLE public log me
204; 1259 16401 TABLE public log_1 me
;	depends on: 203
205; 1259 16402 TABLE public log_1_1 me
;	depends on: 204
206; 1259 16403 TABLE public heir me
;	depends on: 201
300; 0 16384 TABLE DATA public a me
;	depends on: 201
301; 0 16394 TABLE DATA public a b me
;	depends on: 202
302; 0 16402 TABLE DATA public log_1_1 me
;	depends on: 205
303; 0 16403 TABLE DATA public heir me
;	depends on: 206
400; 2606 16500 CONSTRAINT public a a_pkey me
;	depends on: 201
401; 2606 16501 FK CONSTRAINT public a b to a me
;	depends on: 201 400 202
402; 2606 16502 FK CONSTRAINT public a itself me
;	depends on: 201 400 201
403; 2606 16503 FK CONSTRAINT public log log_fkey me
;	depends on: 400 203 201
`;

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
  const needs = needsOf(parseArchiveList(LISTING), { details } as unknown as Manifest);
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
