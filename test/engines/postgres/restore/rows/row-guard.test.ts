import { expect, it } from 'vitest';
import { createRowGuard } from '../../../../../src/engines/postgres/restore/rows/stored-rows.ts';

const ROWS = ['', '\n', 'a\tb\n', '\\\\.\n', 'x\\.\n', '\\N\n.\n'];
const FORGED = ['\\.\n', 'a\n\\.\nb\n', 'a\n\\.b\n', 'a\n\\.\r\n', 'a\0b\n', 'a'];

function check(text: string, chunkBytes: number): void {
  const guard = createRowGuard('public.items');
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += chunkBytes) guard.check(bytes.subarray(at, at + chunkBytes));
  guard.end();
}

it.each([1, 2, 3, 5, 1000])('the guard accepts rows that only resemble a mark, in chunks of %i bytes', (size) => {
  for (const rows of ROWS) expect(() => check(rows, size)).not.toThrow();
});

it.each([1, 2, 3, 5, 1000])(
  'the guard refuses rows with an end-of-copy mark or a NUL, in chunks of %i bytes',
  (size) => {
    for (const rows of FORGED) expect(() => check(rows, size)).toThrow(/^The rows of public.items are refused/);
  },
);
