import { createHash, randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createChecksum } from '../../../src/repository/objects/checksum.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

const PIECE = 300_000;
const content = randomBytes(10 * PIECE + 7);
const inOrder = Array.from({ length: 11 }, (_, index) => index);

/** The checksum of a file whose pieces are written in this order. */
async function digestOf(order: number[]): Promise<string | null> {
  await using folder = await temporaryFolder();
  await using file = await open(join(folder.path, 'file'), 'wx+');
  const checksum = createChecksum(file);
  for (const piece of order) {
    const bytes = content.subarray(piece * PIECE, (piece + 1) * PIECE);
    await file.write(bytes, 0, bytes.length, piece * PIECE);
    checksum.update(bytes, piece * PIECE);
  }
  return await checksum.digest();
}

test.each([
  ['in order', inOrder],
  ['backwards', inOrder.toReversed()],
  ['four at a time, as they come', [0, 2, 1, 4, 3, 6, 8, 5, 7, 10, 9]],
  ['the first at the end', [...inOrder.slice(1), 0]],
])('what goes by %s has the checksum of the file', async (_what, order) => {
  expect(await digestOf(order)).toBe(createHash('sha256').update(content).digest('hex'));
});

test.each([
  ['went by twice', [...inOrder, 4]],
  ['went by twice before its turn', [0, 4, 4, 1, 2, 3, ...inOrder.slice(5)]],
  ['is missing', inOrder.toSpliced(4, 1)],
])('when a piece %s there is none', async (_what, order) => {
  expect(await digestOf(order)).toBeNull();
});
