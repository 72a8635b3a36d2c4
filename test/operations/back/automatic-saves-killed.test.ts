import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../../helpers/storage/leftovers.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

const FULL = process.env.TEST_FULL !== undefined;
/** Moments of a load with an automatic save, as parts of the time from its beginning to the end of the load. */
const MOMENTS = FULL ? Array.from({ length: 10 }, (_, at) => at / 8) : [0.2];
const KEEP = 3;

const FILL = [
  'CREATE TABLE numbers (n INT PRIMARY KEY)',
  'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)',
  "INSERT INTO item SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n, 'name' FROM numbers a, numbers b, numbers c, numbers d",
  'CREATE TABLE child (id INT PRIMARY KEY, item_id INT NOT NULL, FOREIGN KEY (item_id) REFERENCES item (id))',
  'INSERT INTO child SELECT id, id FROM item WHERE id BETWEEN 1 AND 2000',
];
const LOAD = ['load', 'app', '--no-undo'];

for (const kind of FULL ? SERVER_KINDS : (['postgres'] as const)) {
  describeWithKind(kind, 'automatic saves, when the whole process group is killed', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;
    let loaded: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: folder.path,
        saves: { keep: KEEP, max_duration: 10, before: ['load'] },
        targets: { app: { snapshot: { src_url, dst_url } } },
      });
      await server.create('source');
      await server.run('source', FILL);
      await tool.done(['build', 'app']);
      await tool.done(LOAD);
      loaded = await tables();
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    async function tables(): Promise<string> {
      await server.quiet();
      return server.tables('copy');
    }

    async function saves(): Promise<string[]> {
      const { code, output } = await tool.start(['back', 'app', '--list', '--json']).ended;
      expect(code, output).toBe(0);
      const { points }: { points: { kind: string; name: string }[] } = JSON.parse(
        output.trim().split('\n').at(-1) ?? '',
      );
      return points.filter(({ kind }) => kind === 'save').map(({ name }) => name);
    }

    /** Milliseconds from the beginning of the save to the end of the load. */
    async function timed(): Promise<number> {
      const run = tool.start(LOAD);
      await run.said('"step":"save"');
      const began = performance.now();
      expect((await run.ended).code).toBe(0);
      return performance.now() - began;
    }

    it('are whole or absent, older ones remain, and the next run removes the rest', { timeout: 900_000 }, async () => {
      await server.run('copy', ["UPDATE item SET name = 'first'"]);
      const duration = await timed();
      let interrupted = 0;
      for (const [round, moment] of MOMENTS.entries()) {
        await server.run('copy', [`UPDATE item SET name = 'round ${round}' WHERE id % 7 = ${round % 7}`]);
        const present = await tables();
        const before = await saves();
        const run = tool.start(LOAD);
        await run.said('"step":"save"');
        await Promise.race([run.ended, setTimeout(duration * moment)]);
        run.killGroup();
        await run.ended;

        const left = await tables();
        expect([present, loaded].includes(left), `round ${round}: neither old nor new`).toBe(true);
        const after = await saves();
        const added = after.filter((name) => !before.includes(name));
        expect(added.length, `round ${round}: ${after}`).toBeLessThanOrEqual(1);
        // Older ones go only by the rules, and only when the new one is there.
        const gone = before.filter((name) => !after.includes(name));
        expect(gone.length, `round ${round}`).toBeLessThanOrEqual(added.length);
        for (const name of after) await tool.done(['verify', 'app', '--save', name]);
        if (left === present) interrupted += 1;
        // The destination was replaced: its state is in the save.
        else expect(added, `round ${round}`).toHaveLength(1);

        await tool.done(LOAD);
        const settled = await saves();
        expect(settled.length).toBeLessThanOrEqual(KEEP);
        const of = left === present ? settled[0] : added[0];
        await tool.done(['back', 'app', of ?? '', '--no-undo', '--no-autosave']);
        expect(await tables(), `round ${round}: the save`).toBe(present);
        expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
        expect(await stagingLeftovers(folder.path)).toEqual([]);
      }
      expect(interrupted).toBeGreaterThan(0);
    });
  });
}
