import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { measuredRun } from '../helpers/measured-run.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql-server.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const MEGABYTE = 1024 * 1024;
const ROW_MEGABYTES = 100;
/** Of a load with the runtime and all its threads; of a build, whose driver takes a row whole, without the runtime. */
const MOST_MEGABYTES = 4 * ROW_MEGABYTES;

/** A value of so many bytes, with every byte, also those that a literal has to escape. */
const VALUE = `REPEAT(UNHEX('${Buffer.from([...Array(256).keys()]).toString('hex')}'), ${(ROW_MEGABYTES * MEGABYTE) / 256})`;

for (const flavour of ['mariadb', 'mysql'] as const) {
  describeWithMysql(flavour, { name: `a value of ${ROW_MEGABYTES} MB` }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour, [
        '--local-infile=OFF',
        '--max-allowed-packet=512M',
        // A value may be a tenth of it.
        ...['--loose-innodb-log-file-size=2G', '--loose-innodb-redo-log-capacity=4G'],
      ]);
      await server.createDatabase('source');
      await server.sql(
        'source',
        'CREATE TABLE large (id INT PRIMARY KEY, value LONGBLOB)',
        'INSERT INTO large VALUES (1, NULL)',
      );
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(`is built and, without LOCAL INFILE, loaded in ${MOST_MEGABYTES} MB of memory`, async () => {
      const config = join(folder.path, 'tool.yml');
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const settings = {
        secret_key: 'ab'.repeat(16),
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot } },
      };
      await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
      const measured = async (command: string): Promise<number> => {
        const words = [MAIN, '--config', config, '--yes', '--json', command, 'app'];
        const { megabytes, seconds } = await measuredRun(process.execPath, words);
        console.info(`${flavour}: ${command}: ${megabytes} MB of memory, ${seconds.toFixed(1)} s`);
        return megabytes;
      };
      const runtime = await measured('build');
      await server.sql('source', `UPDATE large SET value = ${VALUE}`);
      expect((await measured('build')) - runtime).toBeLessThanOrEqual(MOST_MEGABYTES);
      expect(await measured('load')).toBeLessThanOrEqual(MOST_MEGABYTES);
      const digest = 'SELECT SHA2(value, 256) AS digest FROM large';
      expect(await server.sql('copy', digest)).toEqual(await server.sql('source', digest));
    });
  });
}
