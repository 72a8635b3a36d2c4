import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { describeWithMysql, startMysql } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

describeWithMysql('mariadb', { name: 'traces of what was replaced' }, () => {
  it('are not in the file of the table, nor in the history of one that keeps it', async () => {
    await using folder = await temporaryFolder();
    const server = await startMysql('mariadb');
    await using _server = { [Symbol.asyncDispose]: server.stop };
    await server.createDatabase('source');
    const numbers =
      '(WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 400) SELECT i FROM n) numbers';
    await server.sql(
      'source',
      'CREATE TABLE person (id int PRIMARY KEY, email varchar(100))',
      `INSERT INTO person SELECT i, concat(IF(i % 10 = 0, repeat('real', 15), repeat('test', 15)), i) FROM ${numbers}`,
      'CREATE TABLE versioned (id int PRIMARY KEY, email varchar(100)) WITH SYSTEM VERSIONING',
      'INSERT INTO versioned SELECT * FROM person',
    );
    const target = {
      snapshot: { src_url: server.url('source') },
      sanitize: {
        dst_url: server.url('clean'),
        override_query: "UPDATE person SET email = '' WHERE id % 10 = 0; UPDATE versioned SET email = ''",
      },
    };
    const context = testContext({ settings: { working_directory: folder.path, targets: { app: target } } });
    await build(context, { target: 'app' });
    await applySanitize(context, await planSanitize(context, { target: 'app' }));

    expect(await content('source')).toContain('realreal');
    expect(await content('clean')).not.toContain('realreal');
    const history = "SELECT count(*) AS count FROM versioned FOR SYSTEM_TIME ALL WHERE email <> ''";
    expect(await server.sql('clean', history)).toEqual([{ count: 0 }]);

    /** The file of the table, with all that the server holds of it in memory. */
    async function content(database: string): Promise<string> {
      await using session = await openSession({ url: parseMysqlUrl(server.url(database)) });
      await session.execute('FLUSH TABLES person FOR EXPORT');
      return readFile(join(server.directory, 'data', database, 'person.ibd'), 'latin1');
    }
  }, 60_000);
});
