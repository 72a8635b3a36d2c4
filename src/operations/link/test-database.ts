import { createHash } from 'node:crypto';

/** Bytes of a name on every server, without the numbers that Rails adds for its workers (`-12`). */
const MOST_BYTES = 60;
const SUFFIX = '-test';

/** The database of a tree's tests, which Rails creates, drops and numbers itself. No branch has a name with this suffix. */
export function testDatabase(database: string): string {
  const most = MOST_BYTES - SUFFIX.length;
  if (Buffer.byteLength(database) <= most) return database + SUFFIX;
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 8);
  let kept = '';
  for (const character of database) {
    if (Buffer.byteLength(kept + character) > most - digest.length - 1) break;
    kept += character;
  }
  return `${kept}_${digest}${SUFFIX}`;
}
