import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { listBranches } from '../../../src/operations/branch/list/list.ts';
import { BRANCH_SERVERS, type BranchServer } from '../../helpers/databases/branch-servers.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';
import { trials } from '../../helpers/trials.ts';

for (const { kind, start: startServer } of BRANCH_SERVERS) {
  const part = trials(`kills/branches-${kind}`);
  if (part.isEmpty) continue;
  describeWithKind(kind, 'branches, when the whole process group is killed', () => {
    let server: BranchServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;
    let pristine: string;
    let settings: Partial<Settings>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startServer(), temporaryFolder()]);
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
      tool = await toolIn(folder.path, settings);
      await server.sql('source', server.items);
      await tool.done(['build', 'app']);
      await tool.done(['load', 'app', '--keep-base', '--no-undo']);
      pristine = await dumpOf('copy');
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    // MySQL keeps the semicolon after a body that a packet has made, until the program ends.
    const dumpOf = async (database: string) => (await server.dump(database)).replaceAll('\n; ', ' ');
    /** The order of rows in a file is no content. */
    const sorted = (dump: string) => dump.split('\n').sort().join('\n');
    const itemsOf = async (database: string) => sorted(await dumpOf(database));
    const branches = async () => (await listBranches(testContext({ settings }), { target: 'app' })).branches;
    const databases = async (pattern: RegExp) => (await server.databases()).filter((name) => pattern.test(name));

    async function clean(): Promise<void> {
      if ((await branches()).some(({ current }) => current)) await tool.done(['undo', 'app']);
      for (const name of await databases(/^copy_|tool-undo/)) await server.drop(name);
    }

    interface Killed {
      words: string[];
      prepare(): Promise<void>;
      /** Whether it took place; throws for any state but that of before and after. */
      isDone(at: string): Promise<boolean>;
    }

    let [old, branch] = ['', ''];
    const killed: Killed[] = [
      {
        words: ['branch', 'create', 'app', 'test', '--count', '2'],
        prepare: async () => {},
        async isDone(at) {
          const found = await branches();
          expect(await databases(/^copy_[^.]*$/), `${at}: each database under a branch's name is a branch`).toEqual(
            found.map(({ database }) => database).sort(),
          );
          for (const { database } of found) expect(await dumpOf(database), at).toBe(pristine);
          return found.length === 2;
        },
      },
      {
        words: ['branch', 'create', 'app', 'test', '--count', '2', '--from', 'one'],
        async prepare() {
          await tool.done(['branch', 'create', 'app', 'one']);
          await server.sql('copy_one', ['DELETE FROM item WHERE id % 2 = 0']);
          old = await itemsOf('copy_one');
        },
        async isDone(at) {
          const found = await branches();
          expect(await databases(/^copy_[^.]*$/), at).toEqual(found.map(({ database }) => database).sort());
          for (const { database } of found) expect(await itemsOf(database), at).toBe(old);
          return found.length === 3;
        },
      },
      {
        words: ['branch', 'reset', 'app', 'one'],
        async prepare() {
          await tool.done(['branch', 'create', 'app', 'one']);
          await server.sql('copy_one', ['DELETE FROM item WHERE id % 2 = 0']);
          old = await itemsOf('copy_one');
        },
        async isDone(at) {
          // A reset in place adds the missing rows at the end.
          const items = await itemsOf('copy_one');
          const whole = sorted(pristine);
          expect([old, whole].includes(items), `${at}: neither old nor new`).toBe(true);
          expect(await branches(), at).toMatchObject([{ name: 'one', database: 'copy_one' }]);
          return items === whole;
        },
      },
      {
        words: ['back', 'app', 'saved', '--branch', 'one'],
        async prepare() {
          await tool.done(['branch', 'create', 'app', 'one']);
          await server.sql('copy_one', ["UPDATE item SET name = 'saved' WHERE id % 3 = 0"]);
          branch = await itemsOf('copy_one');
          const saved = await tool.start(['save', 'app', 'saved', '--branch', 'one']).ended;
          // Of an earlier round, of equal rows.
          expect(saved.code === 0 || saved.output.includes('save_exists'), saved.output).toBe(true);
          await server.sql('copy_one', ['DELETE FROM item WHERE id % 2 = 0']);
          old = await itemsOf('copy_one');
        },
        async isDone(at) {
          const found = await branches();
          expect(found, at).toMatchObject([{ name: 'one', database: 'copy_one', snapshot: expect.any(String) }]);
          const items = await itemsOf('copy_one');
          expect([old, branch].includes(items), `${at}: neither old nor new`).toBe(true);
          return items === branch;
        },
      },
      {
        words: ['branch', 'switch', 'app', 'one'],
        async prepare() {
          await tool.done(['branch', 'create', 'app', 'one']);
          await server.sql('copy_one', ['CREATE TABLE of_one (id integer)']);
          [old, branch] = [await dumpOf('copy'), await dumpOf('copy_one')];
        },
        async isDone(at) {
          await tool.done(['branch', 'create', 'app', 'sweep', '--reuse']);
          const one = (await branches()).find(({ name }) => name === 'one');
          expect(await dumpOf('copy'), at).toBe(one?.current ? branch : old);
          if (!one?.current) expect(await dumpOf('copy_one'), at).toBe(branch);
          else expect(await databases(/^copy_one$/), at).toEqual([]);
          return one?.current === true;
        },
      },
    ];

    it(part.title('are complete or absent, old or new, and the next command sweeps'), {
      timeout: part.timeout,
    }, async () => {
      const durations = new Map<Killed, number>();
      const outcomes = new Set<boolean>();
      await part.each(async ({ number, fraction }) => {
        const one = killed[number % killed.length] as Killed;
        await clean();
        await one.prepare();
        if (!durations.has(one)) {
          durations.set(one, await tool.done(one.words));
          await clean();
          await one.prepare();
        }
        await tool.killedAfter(fraction * (durations.get(one) ?? 0), one.words);
        await server.settled();
        const at = `${one.words.join(' ')} killed after ${fraction} of its time`;
        outcomes.add(await one.isDone(at));
        // The next command for branches leaves nothing of the killed one.
        await tool.done(['branch', 'create', 'app', 'sweep', '--reuse']);
        expect(await databases(/\.tool-new-/), at).toEqual([]);
      });
      // Moments that all fall after the end would show nothing.
      if (part.count >= 2) expect(outcomes).toContain(false);
    });
  });
}
