import { expect, test } from 'vitest';
import type { ArchiveDetails } from '../../../../../src/engines/postgres/dump/archive.ts';
import { wholeTable } from '../../../../../src/engines/postgres/restore/rows/batches.ts';
import { copyStatement } from '../../../../../src/engines/postgres/restore/rows/copy-commands.ts';
import type { ManifestTable } from '../../../../../src/repository/manifest/manifest.ts';

const SMALL = 1000;
const LARGE = 10_000_000;

function statement(bytes: number, more: object = {}, isWhole = true): string {
  const file = { name: '1.rows', sha256: 'a'.repeat(64), bytes, stored_bytes: bytes };
  const table: ManifestTable = { name: 'public.t', rows: 10, file };
  const data = { schema: 'public', table: 't', columns: ['id'], of_extension: false, ...more };
  const details = { data: { '1.rows': data } } as unknown as ArchiveDetails;
  return copyStatement({ ...wholeTable(table), isWhole }, details);
}

const COPY = 'COPY "public"."t" ("id") FROM STDIN';

test('a small table gets no new files, which cost the server more than its rows', () => {
  expect(statement(SMALL)).toBe(COPY);
});

test('rows of a large table are frozen where one session loads all of an empty table', () => {
  expect(statement(LARGE)).toBe(`TRUNCATE ONLY "public"."t"; ${COPY} WITH (FREEZE)`);
  expect(statement(LARGE, {}, false)).toBe(COPY);
  expect(statement(LARGE, { of_extension: true })).toBe(COPY);
  expect(statement(LARGE, { root: { schema: 'public', table: 't' } })).toBe(COPY);
});
