import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { openRowReader } from '../../../../src/engines/mysql/dump/row-readers.ts';
import { ROWS_TERMINATOR } from '../../../../src/engines/mysql/dump/row-text.ts';
import { describeWithMysql, startMysql } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const CHUNK_BYTES = 64 * 1024;
/** Bytes of values whose rows, with the value's length and a NULL after it, fill one packet and two. */
const [ONE_PACKET, TWO_PACKETS] = [0xff_ff_ff - 4 - 1, 2 * 0xff_ff_ff - 9 - 1];

/** Rows around a chunk of the socket, and short rows between them. */
const SOME = [...Array.from({ length: 24 }, (_, at) => [CHUNK_BYTES - 16 + at, at]).flat(), 5 * CHUNK_BYTES, 3];
const MORE = [...SOME, ONE_PACKET, ONE_PACKET + 1, 1, TWO_PACKETS, 0];

const selectOf = (sizes: number[]): string =>
  sizes.map((bytes) => `SELECT REPEAT('\\t', ${bytes}), NULL`).join(' UNION ALL ');
const textOf = (sizes: number[]): Buffer => Buffer.from(sizes.map((bytes) => `${'\\t'.repeat(bytes)}\t\\N\n`).join(''));

for (const flavour of ['mariadb', 'mysql'] as const) {
  describeWithMysql(flavour, { name: 'long rows' }, () => {
    const server = suiteResource(() => startMysql(flavour, ['--max-allowed-packet=256M']));

    beforeAll(async () => {
      await server.createDatabase('app');
    }, 240_000);

    it('are read as text, also by a slow reader, and over TLS', async () => {
      for (const tls of flavour === 'mysql' ? ['?ssl-mode=REQUIRED', ''] : ['']) {
        await using session = await openSession({ url: parseMysqlUrl(`${server.url('app')}${tls}`) });
        const sizes = tls ? SOME : MORE;
        const parts: Uint8Array[] = [];
        let rows = 0;
        const text = session.text(selectOf(sizes), () => {
          rows += 1;
        });
        for await (const part of text) {
          parts.push(part);
          await setImmediate();
        }
        expect(rows).toBe(sizes.length);
        expect(Buffer.concat(parts).equals(textOf(sizes))).toBe(true);
        expect(await session.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      }
    });

    it('are written to files, also of several queries in a packet', async () => {
      await using folder = await temporaryFolder();
      const { signal } = new AbortController();
      await using reader = await openRowReader({ url: parseMysqlUrl(server.url('app')), signal });
      const file = join(folder.path, 'long.rows');
      const read = await reader.read([
        { select: selectOf(SOME), file, inMemory: true },
        { select: "SELECT 'short'", file: join(folder.path, 'short.rows'), inMemory: true },
      ]);
      expect(read.map(({ longest }) => longest)).toEqual([2 * 5 * CHUNK_BYTES + '\t\\N\n'.length, 'short\n'.length]);
      expect((await readFile(file)).equals(Buffer.concat([textOf(SOME), Buffer.from(ROWS_TERMINATOR)]))).toBe(true);
      expect(Buffer.from(read[1]?.content ?? []).toString()).toBe(`short\n${ROWS_TERMINATOR}`);
    });
  });
}
