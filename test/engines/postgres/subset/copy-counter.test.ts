import { expect, it } from 'vitest';
import type { Moved } from '../../../../src/engines/copy-progress.ts';
import { createCopyCounter } from '../../../../src/engines/postgres/subset/copy-counter.ts';

/** A row that begins like the end of the rows, an empty one, one of two bytes, and a leaf without any. */
const SCRIPT = [
  ...['TRUNCATE ONLY a;', 'COPY a FROM STDIN;', '1\tone', '\\\\.', '', '\\N', '\\.'],
  ...['TRUNCATE ONLY b;', 'COPY b FROM STDIN;', '\\.'],
  ...['TRUNCATE ONLY c;', 'COPY c FROM STDIN;', 'ünïcode', '\\.'],
].join('\n');

it.each([1, 2, 3, 7, 1000])('counts rows and their bytes leaf by leaf, in chunks of %i bytes', (size) => {
  const counted: Moved[] = [];
  const count = createCopyCounter((leaf, { rows, bytes }) => {
    const one = counted[leaf] ?? { rows: 0, bytes: 0 };
    counted[leaf] = { rows: one.rows + rows, bytes: one.bytes + bytes };
  });
  const script = Buffer.from(`${SCRIPT}\n`);
  for (let at = 0; at < script.length; at += size) count(script.subarray(at, at + size));
  expect(counted).toEqual([
    { rows: 4, bytes: '1\tone\n\\\\.\n\n\\N\n'.length },
    undefined,
    { rows: 1, bytes: Buffer.byteLength('ünïcode\n') },
  ]);
});
