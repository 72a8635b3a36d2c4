import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');
const USER = { name: 'worker', password: 'secret' };
const LIMIT = 120_000;

const FILL = [
  'CREATE TABLE numbers (n INT PRIMARY KEY)',
  'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, KEY (name))',
  "INSERT INTO parent SELECT a.n + 10 * b.n + 100 * c.n, 'a name' FROM numbers a, numbers b, numbers c",
  'CREATE TABLE child (id INT PRIMARY KEY, parent_id INT NOT NULL, FOREIGN KEY (parent_id) REFERENCES parent (id))',
  'INSERT INTO child SELECT id, id FROM parent',
  // So that a step takes long enough to be seen.
  'CREATE TABLE wide (id INT PRIMARY KEY, content MEDIUMTEXT NOT NULL)',
  "INSERT INTO wide SELECT id, REPEAT('some words ', 3000) FROM parent",
  'CREATE VIEW seen AS SELECT name FROM parent',
  'CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
  'CREATE TRIGGER named BEFORE INSERT ON parent FOR EACH ROW SET NEW.name = UPPER(NEW.name)',
  "CREATE EVENT never ON SCHEDULE EVERY 1 YEAR STARTS '2037-01-01' DISABLE DO DELETE FROM parent",
];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'sessions that the server ends' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await server.sql('', "CREATE USER worker@'%' IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO worker@'%'");
      await server.createDatabase('source');
      await server.sql('source', ...FILL);
      await build(contextFor(), { target: 'app' });
      await applyLoad(contextFor(), await planLoad(contextFor(), { target: 'app' }));
      await server.sql('copy', "INSERT INTO parent VALUES (5000, 'old')", 'DROP TRIGGER named');
    }, LIMIT);

    /** Who made it is not what this is about. */
    async function dump(database: string): Promise<string> {
      return (await server.dump(database)).replaceAll(/DEFINER=`\w+`@`[%\w]+`/g, '');
    }

    function contextFor(report: Context['report'] = () => {}): Context {
      const src_url = server.url('source', USER);
      const targets = {
        app: {
          snapshot: { src_url, dst_url: server.url('copy', USER) },
          subset: {
            src_url,
            dst_url: server.url('small', USER),
            subset_tables: [{ table: 'source.child', percent: 10 }],
          },
        },
      };
      return { ...testContext({ settings: { working_directory: folder.path, targets } }), report };
    }

    /** Runs work whose sessions are ended from the beginning of a step on, until it has failed. */
    async function failsAt(step: string, work: (context: Context) => Promise<unknown>): Promise<unknown> {
      let killing: Promise<void> | undefined;
      let ended = false;
      const killAll = async (): Promise<void> => {
        // A run that ends its sessions faster than they are seen has ended as well.
        await eventually(
          async () => {
            const sessions = await server.sql<{ id: number }>(
              '',
              "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = 'worker'",
            );
            for (const { id } of sessions) await server.sql('', `KILL ${id}`).catch(() => {});
            return ended;
          },
          { deadline: LIMIT },
        );
      };
      const context = contextFor((event) => {
        if (event.event === 'step' && event.step === step && event.state === 'started') killing ??= killAll();
      });
      const failure = await work(context).then(
        () => null,
        (error: unknown) => error,
      );
      ended = true;
      await killing;
      expect(killing, `the step ${step} never began`).toBeDefined();
      return failure;
    }

    it.each(['connect', 'dump'])(
      'fail a build in its step %s, and nothing is stored',
      async (step) => {
        const failure = await failsAt(step, (context) => build(context, { target: 'app' }));
        expect(failure, step).toMatchObject({ exit: expect.any(Number) });
        expect(failure).not.toMatchObject({ code: 'unexpected' });
      },
      LIMIT,
    );

    it.each(['prepare', 'restore', 'index', 'check', 'swap'])(
      'fail a load in its step %s, and the destination is whole',
      async (step) => {
        const whole = [await dump('copy'), await dump('source')];
        const planned = await planLoad(contextFor(), { target: 'app', cpus: 2 });
        const failure = await failsAt(step, (context) => applyLoad(context, planned));
        expect(failure, step).toMatchObject({ name: 'UserError' });
        const message = (failure as Error).message;
        expect(message, step).not.toMatch(/undefined|defect/);
        // Only the swap may have happened; whatever is missing of it the next run adds.
        if (step !== 'swap') expect(await dump('copy'), step).toBe(whole[0]);
        await applyLoad(contextFor(), await planLoad(contextFor(), { target: 'app' }));
        expect(await dump('copy'), step).toBe(whole[1]);
        expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
        await server.sql('copy', `INSERT INTO parent VALUES (5000, 'old ${step}')`, 'DROP TRIGGER named');
      },
      LIMIT,
    );

    it.each(['prepare', 'copy', 'index', 'prove'])(
      'fail a subset in its step %s',
      async (step) => {
        const failure = await failsAt(step, async (context) =>
          applySubset(context, await planSubset(context, { target: 'app' })),
        );
        expect(failure, step).toMatchObject({ name: 'UserError' });
        expect(await server.databases()).not.toContain('small');
        await applySubset(contextFor(), await planSubset(contextFor(), { target: 'app' }));
        await server.sql('', 'DROP DATABASE small');
        expect((await server.databases()).filter((name) => name.includes('small'))).toEqual([]);
      },
      LIMIT,
    );
  });
}
