import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build.ts';
import { stagingLeftovers } from '../../../helpers/leftovers.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../../../helpers/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres-server.ts';
import { trials } from '../../../helpers/trials.ts';

const MAIN = new URL('../../../../src/main.ts', import.meta.url).pathname;
const FLAVOURS: TestFlavour[] = process.env.TEST_FULL ? ['mariadb', 'mysql'] : ['mariadb'];

/** Enough work that every step of a load takes its time, and everything that cannot move with its tables. */
const FILL = [
  'CREATE TABLE numbers (n INT PRIMARY KEY)',
  'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)',
  'INSERT INTO parent SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n, LEFT(SHA2(a.n + 10 * b.n + 100 * c.n + 1000 * d.n, 256), 32) FROM numbers a, numbers b, numbers c, numbers d',
  'CREATE TABLE child (id INT PRIMARY KEY, parent_id INT NOT NULL, note VARCHAR(40), KEY (note), FOREIGN KEY (parent_id) REFERENCES parent (id))',
  'INSERT INTO child SELECT p.id * 3 + n.n, p.id, LEFT(SHA2(p.id * 7 + n.n, 256), 32) FROM parent p, numbers n WHERE n.n < 3',
  'CREATE VIEW notes AS SELECT name, note FROM parent JOIN child ON parent_id = parent.id',
  'CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
  'CREATE TRIGGER named BEFORE INSERT ON parent FOR EACH ROW SET NEW.name = UPPER(NEW.name)',
];
const CHANGE = [
  "UPDATE parent SET name = 'changed' WHERE id % 2 = 0",
  'CREATE INDEX by_name ON parent (name)',
  'CREATE TABLE extra (id INT PRIMARY KEY)',
  'CREATE OR REPLACE VIEW notes AS SELECT note FROM child',
  'DROP TRIGGER named',
  "CREATE TRIGGER renamed BEFORE UPDATE ON child FOR EACH ROW SET NEW.note = 'renamed'",
];

for (const flavour of FLAVOURS) {
  const part = trials(`kills/load-${flavour}`);
  describeWithMysql(flavour, { name: 'a load whose whole process group is killed' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour);
      await server.createDatabase('source');
      await server.sql('source', ...FILL);
      const settings = {
        working_directory: folder.path,
        targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
      };
      await build(testContext({ settings }), { target: 'app' });
      await server.sql('source', ...CHANGE);
      await build(testContext({ settings }), { target: 'app' });
      await writeFile(
        join(folder.path, 'tool.yml'),
        `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${folder.path}\ndefaults: {cpus: 2}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('copy')}\n`,
        { mode: 0o600 },
      );
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function startLoad(index: number): ChildProcess {
      const args = [MAIN, '--config', join(folder.path, 'tool.yml'), '--yes', '--json', 'load', 'app', String(index)];
      return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    }

    /** What the tables of the destination are and hold; what belongs to them is made anew after them. */
    async function tables(): Promise<string> {
      // A statement goes on for a while when whoever sent it is gone.
      await eventually(async () => {
        const others = await server.sql(
          '',
          "SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()",
        );
        return others.length === 0;
      });
      const named = await server.sql<{ name: string }>(
        '',
        "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'copy' AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1",
      );
      const facts: unknown[] = [];
      for (const { name } of named) {
        facts.push(await server.sql('copy', `SHOW CREATE TABLE \`${name}\``));
        facts.push(await server.sql('copy', `CHECKSUM TABLE \`${name}\``));
      }
      return JSON.stringify(facts);
    }

    it(part.title('leaves the tables as they were, or the finished new ones, and the next run ends what it began'), {
      timeout: part.timeout,
    }, async () => {
      expect(await ended(startLoad(1))).toBe(0);
      const older = { all: await server.dump('copy'), tables: await tables() };
      const timed = startLoad(0);
      const exitOfTimed = ended(timed);
      await begun(timed);
      const started = performance.now();
      expect(await exitOfTimed).toBe(0);
      const duration = performance.now() - started;
      const newer = { all: await server.dump('copy'), tables: await tables() };
      expect(newer.tables).not.toBe(older.tables);

      let present = newer;
      let finished = 0;
      let sweepable = 0;
      await part.each(async ({ fraction }) => {
        const [index, wanted] = present === newer ? [1, older] : [0, newer];
        const child = startLoad(index);
        const exit = ended(child);
        await begun(child);
        await Promise.race([exit, setTimeout(duration * fraction)]);
        killGroup(child);
        await exit;
        const now = await tables();
        const known = [present, wanted].find((state) => state.tables === now);
        expect(known, `after ${fraction} of its time: the tables are neither the old nor the new ones`).toBeDefined();
        if (known === wanted) finished += 1;
        sweepable += (await server.databases()).filter((name) => name.includes('.tool-new-')).length;
        present = known ?? present;
      });
      // Moments that all fall before the restore, or after the swap, would show nothing.
      if (part.count >= 2) expect(finished).toBeLessThan(part.count);
      if (part.count >= 2) expect(sweepable).toBeGreaterThan(part.count / 6);

      expect(await ended(startLoad(0))).toBe(0);
      expect(await server.dump('copy')).toBe(newer.all);
      expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'source']);
      expect(await stagingLeftovers(folder.path)).toEqual([]);
    });
  });
}

/** Resolves with the first event: from here on the load works. */
function begun(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.stdout?.once('data', () => resolve()));
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

/** Never one that has ended: its number may be another group's by now. */
function killGroup(child: ChildProcess): void {
  const ended = child.exitCode !== null || child.signalCode !== null;
  if (!ended && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
}
