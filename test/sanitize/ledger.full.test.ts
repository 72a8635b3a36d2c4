import { expect, it } from 'vitest';
import type { Ledger } from '../../src/sanitize/ledger/ledger.ts';
import { ledgerText, parseLedger } from '../../src/sanitize/ledger/ledger-file.ts';

const COLUMNS = 50_000;
const MOST_MS = 20_000;
const MOST_BYTES = 1e9;

it('a ledger of 50,000 kept columns is read in time and memory, and one of a million is refused', () => {
  const entries = Array.from(
    { length: COLUMNS },
    (_, at) => [`s.t.c${at}`, { state: 'kept', reason: 'a key' }] as const,
  );
  const ledger: Ledger = new Map(entries);
  const text = ledgerText(new Map([['app', ledger]]));
  const started = performance.now();
  expect(parseLedger(text, 'x').get('app')).toEqual(
    new Map([...ledger].sort(([one], [other]) => (one < other ? -1 : 1))),
  );
  expect(performance.now() - started).toBeLessThan(MOST_MS);
  expect(process.memoryUsage().rss).toBeLessThan(MOST_BYTES);
  const long = text.replace('targets:', `targets:\n${'  x: {}\n'.repeat(20 * COLUMNS)}`);
  expect(() => parseLedger(long, 'x')).toThrow('longer than 100000 columns');
});
