import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = new URL('../../../src', import.meta.url).pathname;

/** What writes a snapshot where others read it, and what decides on the data that an agent may have. */
const SINKS = [/import [^;]*\b(pushSnapshot|writeArchive)\b/, /\.sanitizedOnly\b/, /'originals_not_allowed'/];

/** The table of codes. */
const OTHERS = new Set(['runtime/error-codes.ts']);

describe('a snapshot that is handed out', () => {
  it('passes the gate of the ledger in every file that hands one out', async () => {
    const names = (await readdir(SOURCES, { recursive: true })).filter((name) => name.endsWith('.ts'));
    const callers: string[] = [];
    for (const name of names) {
      const text = await readFile(join(SOURCES, name), 'utf8');
      if (OTHERS.has(name) || !SINKS.some((sink) => sink.test(text))) continue;
      callers.push(name);
      expect(text, name).toMatch(/await assertPublishable\(/);
    }
    expect(callers.sort()).toEqual([
      'operations/load/guard/branch-at.ts',
      'operations/snapshots/sanitized-only.ts',
      'operations/snapshots/transfer/export.ts',
      'operations/snapshots/transfer/push.ts',
    ]);
  });
});
