import { expect, it } from 'vitest';
import { readStoredStatistics, STATISTICS_FILE } from '../../../src/engines/postgres/statistics/stored-file.ts';
import type { Manifest } from '../../../src/repository/manifest/manifest.ts';

const FILE = { name: STATISTICS_FILE, sha256: '', bytes: 1, stored_bytes: 1, stored_sha256: '' };
const manifest: Manifest = {
  ...{ format: 1, id: '00000000', engine: 'postgres', server_version: '18.6', tool_version: '18.6', target: 'shop' },
  ...{ created_at: '2026-01-01T00:00:00.000Z', sanitized: false, note: null, schemas: ['public'], tables: [] },
  ...{ files: [FILE], added_bytes: 0, details: {} },
};

async function tablesOf(text: string): Promise<string[]> {
  const read = async function* () {
    yield new Uint8Array(Buffer.from(text));
  };
  return (await readStoredStatistics({ manifest, read })).map(({ table }) => table);
}

const line = (table: string, columns: string[]): string =>
  `${JSON.stringify({ schema: 'public', table, columns: columns.map((column) => ({ relation: table, column })) })}\n`;

it('statistics of a table that names a column twice, and of more tables than a build stores, are not read', async () => {
  expect(await tablesOf(line('twice', ['id', 'id']) + line('once', ['id', 'name']))).toEqual(['once']);
  const many = Array.from({ length: 1500 }, (_, at) => line(`t${at}`, ['id']));
  expect(await tablesOf(many.join(''))).toHaveLength(1000);
});
