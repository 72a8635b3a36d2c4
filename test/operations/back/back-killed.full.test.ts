import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

const ITEMS = {
  postgres: [
    'CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL)',
    'INSERT INTO item SELECT i, md5(i::text) FROM generate_series(1, 20000) i',
  ],
  mysql: [
    'CREATE TABLE numbers (n INT PRIMARY KEY)',
    'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
    'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL)',
    'INSERT INTO item SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n, SHA2(a.n + 10 * b.n + 100 * c.n + 1000 * d.n, 256) FROM numbers a, numbers b, numbers c, numbers d',
  ],
};
const FILL = [
  'CREATE TABLE child (id INT PRIMARY KEY, item_id INT NOT NULL, FOREIGN KEY (item_id) REFERENCES item (id))',
  'INSERT INTO child SELECT id, id FROM item WHERE id BETWEEN 1 AND 2000',
  'CREATE VIEW names AS SELECT name FROM item',
];
const ROUNDS = 12;
/** A run may take longer than the one that was timed. */
const LONGER = 1.3;

for (const kind of SERVER_KINDS) {
  describeWithKind(kind, 'saves and returns, when the whole process group is killed', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;
    let pristine: string;
    let saved: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: folder.path,
        saves: { keep: 2, max_duration: 10, before: [] },
        targets: { app: { snapshot: { src_url, dst_url } } },
      });
      await server.create('source');
      await server.run('source', [...ITEMS[kind === 'postgres' ? 'postgres' : 'mysql'], ...FILL]);
      await tool.done(['build', 'app']);
      await tool.done(['load', 'app', '--keep-base']);
      pristine = await content();
      await server.run('copy', ["UPDATE item SET name = 'saved' WHERE id % 3 = 0"]);
      saved = await content();
      await tool.done(['save', 'app', 'first']);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    async function content(): Promise<string> {
      await server.quiet();
      return server.content('copy');
    }

    async function points(): Promise<string[]> {
      const { output } = await tool.start(['back', 'app', '--list', '--json']).ended;
      const { points } = JSON.parse(output.trim().split('\n').at(-1) ?? '');
      return points
        .filter((point: { kind: string }) => point.kind === 'save')
        .map(({ name }: { name: string }) => name);
    }

    async function changed(): Promise<string> {
      await server.run('copy', ['DELETE FROM child', 'DELETE FROM item WHERE id % 2 = 0']);
      return content();
    }

    it('a return leaves the destination old or new, and the last load at hand', { timeout: 600_000 }, async () => {
      await changed();
      const duration = await tool.done(['back', 'app', 'first']);
      for (let round = 0; round < ROUNDS; round += 1) {
        const dirty = await changed();
        await tool.killedAfter((LONGER * duration * round) / ROUNDS, ['back', 'app', 'first']);
        // MySQL: what belongs to the tables is settled by the next run.
        if (kind !== 'postgres') await tool.done(['reset', 'app']);
        const now = await content();
        if (kind === 'postgres') {
          expect([dirty, saved].includes(now), `round ${round}: neither old nor new`).toBe(true);
          await tool.done(['reset', 'app']);
        }
        expect(await content(), `round ${round}: the last load`).toBe(pristine);
        await tool.done(['back', 'app', 'first']);
        expect(await content(), `round ${round}: the save`).toBe(saved);
        expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
      }
    });

    it('a save is whole or absent, and older ones are at hand', { timeout: 600_000 }, async () => {
      const duration = await tool.done(['save', 'app', 'second']);
      for (let round = 0; round < ROUNDS; round += 1) {
        await server.run('copy', [`UPDATE item SET name = 'round ${round}' WHERE id % 5 = ${round % 5}`]);
        const present = await content();
        const name = `round-${round}`;
        await tool.killedAfter((LONGER * duration * round) / ROUNDS, ['save', 'app', name]);
        expect(await content(), name).toBe(present);
        const kept = await points();
        if (!kept.includes(name)) await tool.done(['save', 'app', name]);
        await server.run('copy', ['DELETE FROM child']);
        await tool.done(['back', 'app', name]);
        expect(await content(), name).toBe(present);
      }
      expect(await points()).toHaveLength(2);
    });
  });
}
