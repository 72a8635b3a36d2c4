import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { openSession } from '../../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../../src/engines/mysql/connection/url.ts';
import { build } from '../../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../../../../src/operations/reset/reset.ts';
import type { RunEvent } from '../../../../../src/results/events.ts';
import type { LoadResult, ResetResult } from '../../../../../src/results/load-results.ts';
import { asData } from '../../../../helpers/fakes/as-data.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../../helpers/postgres/postgres-server.ts';
import { startStatementProxy } from '../../../../helpers/proxies/statement-proxy.ts';
import { suiteResource } from '../../../../helpers/suite-resource.ts';

const FILL = [
  'CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(20))',
  "INSERT INTO person VALUES (1, 'one'), (2, 'two')",
  'CREATE TABLE pet (id INT PRIMARY KEY, person_id INT, FOREIGN KEY (person_id) REFERENCES person (id))',
  'INSERT INTO pet VALUES (1, 1), (2, 2)',
];
const WRITE = "UPDATE person SET name = 'by a client' WHERE id = 2";
const STATEMENTS = process.env.TEST_FULL ? /./ : /RENAME TABLE/;

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'a reset while a client writes' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    const proxy = suiteResource(() => startStatementProxy(flavour, server.port));
    const events: RunEvent[] = [];
    let pristine: string;

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.createDatabase('copy');
      await server.sql('source', ...FILL);
      await build(context(), { target: 'app' });
      await load();
      pristine = await server.dump('copy');
    }, 240_000);

    function context() {
      const dst_url = server.url('copy').replace(`:${server.port}/`, `:${proxy.port}/`);
      const targets = { app: { snapshot: { src_url: server.url('source'), dst_url } } };
      return testContext({ settings: { working_directory: join(folder.path, 'work'), targets }, events });
    }

    async function load(): Promise<LoadResult> {
      return applyLoad(context(), await planLoad(context(), { target: 'app', spare: true, undo: false }));
    }

    async function reset(): Promise<ResetResult> {
      await server.sql('copy', 'DELETE FROM pet');
      const planned = asData(await planReset(context(), { target: 'app', spare: true, undo: false, copy: true }));
      return applyReset(context(), planned);
    }

    const write = async () => {
      // When the spare is taken, there is no such table.
      await server.sql('copy.tool-spare', WRITE).catch(() => {});
    };

    it('never has rows that were written to its spare, at whatever statement', { timeout: 240_000 }, async () => {
      // In the whole run of tests, before each statement that names the spare; else before its renames.
      const isArmed = (statement: string) => statement.includes('copy.tool-spare') && STATEMENTS.test(statement);
      let rounds = 0;
      for (let isDone = false; !isDone; rounds += 1) {
        let seen = 0;
        proxy.arm(write, (statement) => isArmed(statement) && ++seen > rounds);
        await reset();
        isDone = proxy.disarm().spoiled === null;
        expect(await server.dump('copy'), `after a write at statement ${rounds + 1}`).toBe(pristine);
        // The write may have met the next spare.
        await reset();
        expect(await server.dump('copy'), `after a write at statement ${rounds + 1}, the next`).toBe(pristine);
      }
      expect(rounds).toBeGreaterThan(1);
    });

    it('never has rows that were written to its spare while that was made', { timeout: 60_000 }, async () => {
      events.length = 0;
      const isMade = () => events.some((event) => event.event === 'step' && event.step === 'spare');
      const later = async () => {
        await write();
        // Times of writes are evidence when they are that old.
        await server.sql('', 'DO SLEEP(5)');
      };
      proxy.arm(later, (statement) => isMade() && statement.includes('INTERVAL 3 SECOND'));
      await reset();
      expect(proxy.disarm().spoiled).not.toBeNull();
      await reset();
      expect(await server.dump('copy')).toBe(pristine);
    });

    it('does not wait for a client that reads its spare', { timeout: 60_000 }, async () => {
      await reset();
      await using client = await openSession({ url: parseMysqlUrl(server.url('copy.tool-spare')) });
      await client.execute('START TRANSACTION');
      await client.query('SELECT * FROM person');
      expect((await planReset(context(), { target: 'app' })).plan.from).toBe('spare');
      await reset();
      expect(await server.dump('copy')).toBe(pristine);
    });
  });
}
