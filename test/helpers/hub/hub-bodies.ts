import { createHash } from 'node:crypto';

/** Bytes of a manifest of some 100,000 tables. */
const MANIFEST_BYTES = 20_000_000;

/** As a team writes one: a password in its URL, and a query for its sanitization. */
export function targetBody(index: number, password: string, settings: object = { storage_profile: 'team' }): object {
  return {
    settings: {
      ...settings,
      snapshot: { src_url: `postgres://app:${password}@db${index}.example.com:5432/app${index}` },
      sanitize: {
        override_query: Array.from({ length: 10 }, (_, n) => `UPDATE table_${n} SET email = 'p' || id;`).join('\n'),
      },
      sso_groups: ['readers', 'support'],
    },
    original_groups: ['dba'],
    expected_every: '24h',
    keep: { last: 5, daily: 14 },
  };
}

export function profileBody(secret: string): object {
  return {
    settings: {
      provider: 's3',
      bucket: 'b',
      region: 'eu-central-1',
      access_key: `A${secret}`,
      secret_key: `S${secret}`,
    },
  };
}

/** Tables until the manifest has 20 MB. */
export function largeManifest(): { text: (id: string) => string; sha256s: string[]; bytes: number } {
  const tables: object[] = [];
  const sha256s: string[] = [];
  for (let bytes = 0; bytes < MANIFEST_BYTES; ) {
    const sha256 = createHash('sha256').update(String(tables.length)).digest('hex');
    sha256s.push(sha256);
    const name = `public.table_${tables.length}`;
    const table = { name, rows: 1000, file: { name: `${tables.length}.dat`, sha256, bytes: 1000, stored_bytes: 100 } };
    bytes += JSON.stringify(table).length + 1;
    tables.push(table);
  }
  const manifest = {
    ...{ format: 1, id: '00000000', target: 'large', created_at: new Date().toISOString(), engine: 'postgres' },
    ...{ server_version: '15.18', tool_version: 'pg_dump 15.18', sanitized: false, note: null, schemas: ['public'] },
    ...{ tables, files: [], added_bytes: 0, details: {} },
  };
  const text = `${JSON.stringify(manifest)}\n`;
  return { text: (id) => text.replace('"id":"00000000"', `"id":"${id}"`), sha256s, bytes: text.length };
}
