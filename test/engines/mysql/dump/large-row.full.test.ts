import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../../.ci/build.mjs';
import { describeWithMysql, startMysql, type TestMysql } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../../../helpers/program.ts';
import { measuredRun } from '../../../helpers/terminal/measured-run.ts';

/** As users start it: from source the runtime takes three times as much. */
const MEGABYTE = 1024 * 1024;
const VALUE_MEGABYTES = 200;
/** Most memory of the process, with the runtime and all its threads. */
const MOST_MEGABYTES = 200;

/** Every byte, also those that a literal has to escape, so often that the value has so many megabytes. */
const BYTES = `REPEAT(UNHEX('${Buffer.from([...Array(256).keys()]).toString('hex')}'), ${(VALUE_MEGABYTES * MEGABYTE) / 256})`;
/** Two and a half packets of the protocol. */
const TEXT = `REPEAT('aä\\t\\\\b', ${(40 * MEGABYTE) / 6})`;
/** Fills a packet with the length and the other columns of its row, so that an empty packet follows. */
const FULL_PACKET = `REPEAT('p', ${0xff_ff_ff - 8})`;

for (const flavour of ['mariadb', 'mysql'] as const) {
  describeWithMysql(flavour, { name: `a value of ${VALUE_MEGABYTES} MB` }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      await build();
      folder = await temporaryFolder();
      server = await startMysql(flavour, [
        '--max-allowed-packet=1G',
        // A value may be a tenth of it.
        ...['--loose-innodb-log-file-size=3G', '--loose-innodb-redo-log-capacity=6G'],
      ]);
      await server.createDatabase('source');
      await server.sql(
        'source',
        'CREATE TABLE large (id INT PRIMARY KEY, bytes LONGBLOB, text LONGTEXT CHARACTER SET utf8mb4, document JSON)',
        `INSERT INTO large (id, bytes) VALUES (1, ${BYTES})`,
        `INSERT INTO large (id, text) VALUES (2, ${TEXT}), (3, ${FULL_PACKET}), (4, 'short')`,
        `INSERT INTO large (id, document, text) VALUES (5, JSON_QUOTE(${TEXT}), 'after it')`,
      );
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(`is built and loaded in ${MOST_MEGABYTES} MB of memory, with and without LOCAL INFILE`, async () => {
      const config = join(folder.path, 'tool.yml');
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const settings = {
        secret_key: 'ab'.repeat(16),
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot } },
      };
      await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
      const measured = async (command: string): Promise<number> => {
        const words = [PROGRAM, '--config', config, '--yes', '--json', command, 'app'];
        const { megabytes, seconds } = await measuredRun(process.execPath, words);
        console.info(`${flavour}: ${command}: ${megabytes} MB of memory, ${seconds.toFixed(1)} s`);
        return megabytes;
      };
      const used = [await measured('build')];
      const rows =
        'SELECT id, SHA2(bytes, 256) AS bytes, SHA2(text, 256) AS text, SHA2(document, 256) AS document FROM large';
      const expected = await server.sql('source', rows);
      for (const localInfile of ['ON', 'OFF']) {
        await server.sql('source', `SET GLOBAL local_infile = ${localInfile}`);
        used.push(await measured('load'));
        expect(await server.sql('copy', rows)).toEqual(expected);
      }
      expect(Math.max(...used)).toBeLessThanOrEqual(MOST_MEGABYTES);
    });
  });
}
