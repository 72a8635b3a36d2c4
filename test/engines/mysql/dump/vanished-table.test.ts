import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { startStatementProxy } from '../../../helpers/proxies/statement-proxy.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a table that is dropped during a build' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    it('is named by the error', async () => {
      await server.createDatabase('app');
      await server.sql(
        'app',
        'CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, note VARCHAR(200))',
        "INSERT INTO a (note) VALUES (REPEAT('x', 200)), (REPEAT('y', 200))",
        ...Array.from({ length: 17 }, () => 'INSERT INTO a (note) SELECT note FROM a'),
        'CREATE TABLE z (id INT PRIMARY KEY)',
      );
      const context = testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: server.url('app') } } },
        },
      });
      let dropped: Promise<unknown> | undefined;
      const report: typeof context.report = (event) => {
        if (event.event === 'step' && event.step === 'dump') dropped ??= server.sql('app', 'DROP TABLE z');
      };
      await expect(build({ ...context, report }, { target: 'app', cpus: 1 })).rejects.toMatchObject({
        code: 'source_changing',
        message: expect.stringMatching(/dropped or renamed during the build: z$/),
      });
      await dropped;
    });
  });

  describeWithMysql(flavour, { name: 'definitions that change while they are read' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    const proxy = suiteResource(() => startStatementProxy(flavour, server.port));

    it.each([
      ['a table', 'CREATE TABLE b (id INT)'],
      ['a view', 'CREATE VIEW v AS SELECT 1 AS one'],
      ['a procedure', 'CREATE PROCEDURE p() SELECT 1'],
    ])('are refused: %s', async (_what, statement) => {
      await server.sql('', 'DROP DATABASE IF EXISTS app');
      await server.createDatabase('app');
      await server.sql('app', 'CREATE TABLE a (id INT PRIMARY KEY, note VARCHAR(200))');
      const source = new URL(server.url('app'));
      source.port = String(proxy.port);
      const context = testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: source.href } } },
        },
      });
      let isDefined = false;
      proxy.arm(
        async () => void (await server.sql('app', statement)),
        (text) => {
          const isAfter = isDefined && text.includes('information_schema.TABLES WHERE');
          isDefined ||= text.includes('SHOW CREATE TABLE');
          return isAfter;
        },
      );
      await expect(build(context, { target: 'app', cpus: 1 })).rejects.toMatchObject({ code: 'source_changing' });
      expect(proxy.disarm().spoiled).not.toBe(null);
    });
  });
}
