import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listBranches } from '../../../src/operations/branch/list.ts';
import { build } from '../../../src/operations/build.ts';
import { BRANCH_SERVERS, type BranchServer } from '../../helpers/branch-servers.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres-server.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const FULL = process.env.TEST_FULL !== undefined;

const MOMENTS = FULL ? 25 : 2;

/** The others only in the full run. */
const SERVERS = BRANCH_SERVERS.filter(({ files }) => files || FULL);

describe.each(SERVERS)('branches on $name, when the whole process group is killed', ({ start: startServer }) => {
  let server: BranchServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let pristine: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startServer();
    await server.sql('source', server.items);
    await build(context(), { target: 'app' });
    await writeFile(
      join(folder.path, 'tool.yml'),
      `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${join(folder.path, 'work')}\ndefaults: {cpus: 2}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('copy')}\n`,
      { mode: 0o600 },
    );
    await done(['load', 'app', '--keep-base', '--no-undo']);
    pristine = await dumpOf('copy');
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
  const done = async (words: string[]) => expect(await ended(start(words)), words.join(' ')).toBe(0);
  // MySQL keeps the semicolon after a body that a packet has made, until the program ends.
  const dumpOf = async (database: string) => (await server.dump(database)).replaceAll('\n; ', ' ');
  const sql = (database: string, text: string) => server.sql(database, [text]);
  const branches = async () => (await listBranches(context(), { target: 'app' })).branches;

  interface Killed {
    words: string[];
    prepare: () => Promise<void>;
    /** Whether the state is that of before (`false`) or after; throws for any other. */
    look: (at: string) => Promise<boolean>;
  }

  async function killAt({ words, prepare, look }: Killed): Promise<void> {
    await prepare();
    const timed = start(words);
    const exit = ended(timed);
    await begun(timed);
    const started = performance.now();
    expect(await exit).toBe(0);
    const duration = performance.now() - started;
    let finished = 0;
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      await prepare();
      const child = start(words);
      const left = ended(child);
      await begun(child);
      await Promise.race([left, setTimeout((duration * (moment + 0.5)) / MOMENTS)]);
      killGroup(child);
      await left;
      await server.settled();
      if (await look(`moment ${moment} of ${MOMENTS}`)) finished += 1;
      // The next run leaves nothing of the killed one.
      await done(['branch', 'create', 'app', 'sweep', '--reuse']);
      expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
      await done(['branch', 'drop', 'app', 'sweep']);
    }
    expect(finished).toBeLessThan(MOMENTS);
  }

  const dropAll = async () => {
    for (const name of await server.databases()) {
      if (/^copy_|tool-undo/.test(name)) await server.drop(name);
    }
  };

  it('are complete or absent after a creation', async () => {
    await killAt({
      words: ['branch', 'create', 'app', 'test', '--count', '2'],
      prepare: dropAll,
      async look(at) {
        const found = await branches();
        const databases = (await server.databases()).filter((name) => /^copy_[^.]*$/.test(name));
        expect(databases, `${at}: each database under a branch's name is a branch`).toEqual(
          found.map(({ database }) => database).sort(),
        );
        for (const { database } of found) expect(await dumpOf(database), at).toBe(pristine);
        return found.length === 2;
      },
    });
  }, 600_000);

  it.runIf(FULL)(
    'are the old one or the new one after a reset',
    async () => {
      let dirty = '';
      await killAt({
        words: ['branch', 'reset', 'app', 'one'],
        async prepare() {
          await dropAll();
          await done(['branch', 'create', 'app', 'one']);
          await sql('copy_one', 'DELETE FROM item WHERE id % 2 = 0');
          dirty = await dumpOf('copy_one');
        },
        async look(at) {
          const dump = await dumpOf('copy_one');
          expect([dirty, pristine].includes(dump), `${at}: neither old nor new`).toBe(true);
          expect(await branches(), at).toMatchObject([{ name: 'one', database: 'copy_one' }]);
          return dump === pristine;
        },
      });
    },
    600_000,
  );

  it.runIf(FULL)(
    'lead the destination to the old database or to the branch after a switch',
    async () => {
      let [main, branch] = ['', ''];
      await killAt({
        words: ['branch', 'switch', 'app', 'one'],
        async prepare() {
          if ((await branches()).some(({ current }) => current)) await done(['undo', 'app']);
          await dropAll();
          await done(['branch', 'create', 'app', 'one']);
          await sql('copy_one', 'CREATE TABLE of_one (id integer)');
          [main, branch] = [await dumpOf('copy'), await dumpOf('copy_one')];
        },
        async look(at) {
          await done(['branch', 'create', 'app', 'sweep', '--reuse']);
          const one = (await branches()).find(({ name }) => name === 'one');
          expect(await dumpOf('copy'), at).toBe(one?.current ? branch : main);
          if (!one?.current) expect(await dumpOf('copy_one'), at).toBe(branch);
          else expect(await server.databases(), at).not.toContain('copy_one');
          return one?.current === true;
        },
      });
    },
    600_000,
  );
});

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}
