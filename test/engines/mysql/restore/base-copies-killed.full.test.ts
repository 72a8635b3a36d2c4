import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build.ts';
import { applyReset, planReset } from '../../../../src/operations/load/reset.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../../../helpers/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres-server.ts';

const MAIN = new URL('../../../../src/main.ts', import.meta.url).pathname;
const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];
const MOMENTS = 20;
/** A run may take longer than the one that was timed. */
const LONGER = 1.3;

const FILL = [
  'CREATE TABLE numbers (n INT PRIMARY KEY)',
  'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL, KEY by_name (name))',
  'INSERT INTO item SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n, SHA2(a.n + 10 * b.n + 100 * c.n + 1000 * d.n, 256) FROM numbers a, numbers b, numbers c, numbers d, numbers e WHERE e.n < 2',
  'CREATE TABLE child (id INT PRIMARY KEY, item_id INT NOT NULL, FOREIGN KEY (item_id) REFERENCES item (id))',
  'INSERT INTO child SELECT id, id FROM item WHERE id < 5000',
  'CREATE VIEW names AS SELECT name FROM item',
];

const COMMANDS = [
  { command: 'load --keep-base', words: ['load', 'app', '--keep-base'] },
  { command: 'reset', words: ['reset', 'app'] },
  { command: 'reset --spare', words: ['reset', 'app', '--spare'] },
];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'base copies, when the whole process group is killed' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let pristine: string;
    let pristineTables: string;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour);
      await server.createDatabase('source');
      await server.sql('source', ...FILL);
      await build(context(), { target: 'app' });
      await writeFile(
        join(folder.path, 'tool.yml'),
        `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${join(folder.path, 'work')}\ndefaults: {cpus: 2}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('copy')}\n`,
        { mode: 0o600 },
      );
      expect(await ended(start(['load', 'app', '--spare']))).toBe(0);
      pristine = await server.dump('copy');
      pristineTables = await tables();
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function context() {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      return testContext({
        settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } },
      });
    }

    function start(words: string[]): ChildProcess {
      const args = [MAIN, '--config', join(folder.path, 'tool.yml'), '--yes', '--json', ...words];
      return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    }

    const begun = (child: ChildProcess) => new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
    const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve));
    /** The tables of the destination: views are made after them, by whoever comes next. */
    async function tables(): Promise<string> {
      // A statement goes on for a while when whoever sent it is gone.
      await eventually(async () => {
        const others = await server.sql(
          '',
          "SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()",
        );
        return others.length === 0;
      });
      const names = await server.sql<{ name: string }>(
        'copy',
        "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'copy' AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1",
      );
      const found: unknown[] = [];
      for (const { name } of names) {
        found.push(
          await server.sql('copy', `SHOW CREATE TABLE \`${name}\``),
          await server.sql('copy', `CHECKSUM TABLE \`${name}\``),
        );
      }
      return JSON.stringify(found);
    }

    async function dirty(): Promise<string> {
      await server.sql(
        'copy',
        `CREATE TABLE mine_${Math.random().toString(36).slice(2)} (id INT)`,
        'DELETE FROM child WHERE id % 2 = 0',
      );
      return tables();
    }

    it.each(COMMANDS)(
      'are whole or absent, as is the destination, at moments of $command',
      async ({ words }) => {
        await dirty();
        const timed = start(words);
        const exit = ended(timed);
        await begun(timed);
        const started = performance.now();
        expect(await exit).toBe(0);
        const duration = performance.now() - started;
        let finished = 0;
        for (let moment = 0; moment < MOMENTS; moment += 1) {
          const changed = await dirty();
          const child = start(words);
          const left = ended(child);
          await begun(child);
          await Promise.race([left, setTimeout((LONGER * duration * (moment + 0.5)) / MOMENTS)]);
          killGroup(child);
          await left;
          const at = `moment ${moment} of ${MOMENTS}`;
          const now = await tables();
          expect([changed, pristineTables].includes(now), `${at}: the destination is neither old nor new`).toBe(true);
          if (now === pristineTables) finished += 1;
          // Whatever was killed, the base copy that is there still leads back to the snapshot.
          await applyReset(context(), await planReset(context(), { target: 'app' }));
          expect(await server.dump('copy'), at).toBe(pristine);
          expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
        }
        // Moments that all fall before or after the swap would show nothing.
        expect(finished).toBeLessThan(MOMENTS);
        expect(finished).toBeGreaterThan(0);
      },
      900_000,
    );
  });
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}
