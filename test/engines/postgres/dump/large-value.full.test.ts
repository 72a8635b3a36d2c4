import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { makeAuthority, sign, speakTls } from '../../../helpers/postgres/postgres-tls.ts';
import { PROGRAM } from '../../../helpers/program.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';
import { measuredRun } from '../../../helpers/terminal/measured-run.ts';

const VALUE_MEGABYTES = 200;
const MOST_MEGABYTES = 200;

/** A value of so many bytes, of which the text has twice as many; stored as it is. */
const TABLE = `
  CREATE TABLE large (id integer PRIMARY KEY, value bytea);
  ALTER TABLE large ALTER COLUMN value SET STORAGE EXTERNAL`;
const VALUE = `decode(repeat(md5('a') || md5('b'), ${(VALUE_MEGABYTES * 1024 * 1024) / 32}), 'hex')`;

describeWithPostgres(`a value of ${VALUE_MEGABYTES} MB`, () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', { sql: TABLE });
    const authority = await makeAuthority(join(folder.path, 'tls'));
    await speakTls(server, await sign(authority, { name: 'server', subject: '/CN=localhost' }));
  }, 60_000);

  it.each(['disable', 'require'])(
    `is built and loaded in ${MOST_MEGABYTES} MB of memory besides the runtime, with all programs: sslmode=%s`,
    {
      timeout: 300_000,
    },
    async (sslmode) => {
      await server.psql('source', { sql: 'TRUNCATE large' });
      await rm(join(folder.path, 'work'), { recursive: true, force: true });
      const config = join(folder.path, 'tool.yml');
      const [src_url, dst_url] = ['source', 'copy'].map((name) => `${server.url(name)}?sslmode=${sslmode}`);
      const snapshot = { src_url, dst_url };
      const settings = {
        secret_key: 'ab'.repeat(16),
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot } },
      };
      await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
      const measured = async (...words: string[]): Promise<number> => {
        const args = [PROGRAM, '--config', config, '--yes', '--json', ...words];
        const { megabytes, treeMegabytes, seconds } = await measuredRun(process.execPath, args);
        console.info(
          `${words.join(' ')}: ${megabytes} MB (${treeMegabytes} MB with programs), ${seconds.toFixed(1)} s`,
        );
        return treeMegabytes;
      };
      // From source the runtime takes three times as much as the bundle.
      const runtime = await measured('build', 'app');
      await server.psql('source', { sql: `INSERT INTO large VALUES (1, ${VALUE})` });
      for (const cpus of ['1', '2']) {
        expect((await measured('build', 'app', '--cpus', cpus)) - runtime).toBeLessThanOrEqual(MOST_MEGABYTES);
      }
      expect((await measured('load', 'app')) - runtime).toBeLessThanOrEqual(MOST_MEGABYTES);
      const digest = { sql: 'SELECT sha256(value) FROM large' };
      expect(await server.psql('copy', digest)).toBe(await server.psql('source', digest));
    },
  );
});
