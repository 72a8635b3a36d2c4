import { expect, test } from 'vitest';
import {
  archiveDetails,
  isTableData,
  parseArchiveList,
  withoutDependents,
} from '../../../../src/engines/postgres/dump/archive.ts';
import type { Manifest } from '../../../../src/repository/manifest/manifest.ts';

const LISTING = `;
; Archive created at 2026-11-21 07:00:00 UTC
;     dbname: odd; 12; 34 56 TABLE DATA
;     TOC Entries: 5
;
;
; Selected TOC Entries:
;
5; 2615 16385 SCHEMA - Gift Cards postgres
210; 1259 16400 TABLE public TABLE DATA me
3350; 0 16400 TABLE DATA public TABLE DATA me
3351; 0 0 COMMENT public TABLE "TABLE DATA" me
;	depends on: 210
3352; 2606 4294967295 FK CONSTRAINT public item item_fk me
;	depends on: 3351 5
`;

test('the entries of an archive are its lines with an oid, comments left out', () => {
  expect(parseArchiveList(LISTING).map(({ dumpId, oid, text }) => [dumpId, oid, text])).toEqual([
    [5, 16385, 'SCHEMA - Gift Cards postgres'],
    [210, 16400, 'TABLE public TABLE DATA me'],
    [3350, 16400, 'TABLE DATA public TABLE DATA me'],
    [3351, 0, 'COMMENT public TABLE "TABLE DATA" me'],
    [3352, 4294967295, 'FK CONSTRAINT public item item_fk me'],
  ]);
});

test('an entry can be passed to pg_restore unchanged', () => {
  for (const { line } of parseArchiveList(LISTING)) expect(LISTING.split('\n')).toContain(line);
});

test('entries that depend on an omitted entry are omitted, at any distance', () => {
  const entries = parseArchiveList(LISTING);
  const kept = (left: number): number[] =>
    withoutDependents(entries, ({ dumpId }) => dumpId === left).map(({ dumpId }) => dumpId);
  expect(kept(210)).toEqual([5, 3350]);
  expect(withoutDependents(entries.toReversed(), ({ dumpId }) => dumpId === 210)).toHaveLength(2);
  expect(kept(3352)).toEqual([5, 210, 3350, 3351]);
  expect(kept(1)).toHaveLength(5);
});

test('only rows count as rows, with any table name', () => {
  expect(
    parseArchiveList(LISTING)
      .filter(isTableData)
      .map(({ dumpId }) => dumpId),
  ).toEqual([3350]);
});

test('details of another version are refused with a hint', () => {
  const manifest = { id: 'abc', target: 'app', details: { schemas: 'all' } } as unknown as Manifest;
  expect(() => archiveDetails(manifest)).toThrow(
    expect.objectContaining({ code: 'manifest_not_understood', exit: 1, hint: expect.stringContaining('tool build') }),
  );
});
