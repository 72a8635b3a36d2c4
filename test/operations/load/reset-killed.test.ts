import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build.ts';
import { applyReset, planReset } from '../../../src/operations/load/reset.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres-server.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const FULL = process.env.TEST_FULL !== undefined;

const FILL = `
  CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL);
  INSERT INTO item SELECT i, md5(i::text) FROM generate_series(1, 20000) i;
  CREATE INDEX ON item (name)`;

const COMMANDS = [
  { command: 'load --keep-base', words: ['load', 'app', '--keep-base'], moments: FULL ? 20 : 0 },
  { command: 'reset', words: ['reset', 'app'], moments: FULL ? 20 : 0 },
  { command: 'reset --spare', words: ['reset', 'app', '--spare'], moments: FULL ? 30 : 2 },
].filter(({ moments }) => moments > 0);

describeWithPostgres('base copies, when the whole process group is killed', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let pristine: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    await build(context(), { target: 'app' });
    await writeFile(
      join(folder.path, 'tool.yml'),
      `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${join(folder.path, 'work')}\ndefaults: {cpus: 2}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('copy')}\n`,
      { mode: 0o600 },
    );
    expect(await ended(start(['load', 'app', '--spare']))).toBe(0);
    pristine = await server.dump('copy');
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function context() {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    return testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } } });
  }

  function start(words: string[]): ChildProcess {
    const args = [MAIN, '--config', join(folder.path, 'tool.yml'), '--yes', '--json', ...words];
    return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  const begun = (child: ChildProcess) => new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
  const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve));
  const sql = async (database: string, text: string) => (await server.psql(database, { sql: text })).trim();

  /** The content of a closed database. */
  async function dumpClosed(name: string): Promise<string> {
    await sql('postgres', `CREATE DATABASE opened TEMPLATE "${name}"`);
    const dump = await server.dump('opened');
    await sql('postgres', 'DROP DATABASE opened');
    return dump;
  }

  async function dirty(): Promise<string> {
    await sql(
      'copy',
      `CREATE TABLE mine_${Math.random().toString(36).slice(2)} (id integer); DELETE FROM item WHERE id % 2 = 0`,
    );
    return server.dump('copy');
  }

  async function expectWholeCopies(at: string): Promise<void> {
    for (const name of ['copy.tool-base', 'copy.tool-spare']) {
      if (!(await server.databases()).includes(name)) continue;
      expect(await sql('postgres', `SELECT datallowconn FROM pg_database WHERE datname = '${name}'`), at).toBe('f');
      expect(await dumpClosed(name), `${at}: ${name} differs from the snapshot`).toBe(pristine);
    }
  }

  it.each(COMMANDS)(
    'are whole or absent, as is the destination, at $moments moments of $command',
    async ({ words, moments }) => {
      await dirty();
      const timed = start(words);
      const exit = ended(timed);
      await begun(timed);
      const started = performance.now();
      expect(await exit).toBe(0);
      const duration = performance.now() - started;
      let finished = 0;
      for (let moment = 0; moment < moments; moment += 1) {
        const changed = await dirty();
        const child = start(words);
        const left = ended(child);
        await begun(child);
        await Promise.race([left, setTimeout((duration * (moment + 0.5)) / moments)]);
        killGroup(child);
        await left;
        const at = `moment ${moment} of ${moments}`;
        const now = await server.dump('copy');
        expect([changed, pristine].includes(now), `${at}: the destination is neither old nor new`).toBe(true);
        if (now === pristine) finished += 1;
        await expectWholeCopies(at);
        // Whatever was killed, the base copy that is there still leads back to the snapshot.
        await applyReset(context(), await planReset(context(), { target: 'app' }));
        expect(await server.dump('copy'), at).toBe(pristine);
        expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
      }
      // Moments that all fall before or after the swap would show nothing.
      expect(finished).toBeLessThan(moments);
      if (FULL) expect(finished).toBeGreaterThan(0);
    },
    FULL ? 900_000 : 120_000,
  );
});

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}
