import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';
import { trials } from '../../helpers/trials.ts';

const ITEMS = {
  postgres: [
    'CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL)',
    'INSERT INTO item SELECT i, md5(i::text) FROM generate_series(1, 20000) i',
    'CREATE INDEX ON item (name)',
  ],
  mysql: [
    'CREATE TABLE numbers (n INT PRIMARY KEY)',
    'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
    'CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(64) NOT NULL, KEY by_name (name))',
    'INSERT INTO item SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n, SHA2(a.n + 10 * b.n + 100 * c.n + 1000 * d.n, 256) FROM numbers a, numbers b, numbers c, numbers d, numbers e WHERE e.n < 2',
  ],
};
const FILL = [
  'CREATE TABLE child (id INT PRIMARY KEY, item_id INT NOT NULL, FOREIGN KEY (item_id) REFERENCES item (id))',
  'INSERT INTO child SELECT id, id FROM item WHERE id BETWEEN 1 AND 5000',
  'CREATE VIEW names AS SELECT name FROM item',
];

const COMMANDS = [
  ['reset', 'app', '--spare'],
  ['reset', 'app'],
  ['load', 'app', '--keep-base'],
];
/** A run may take longer than the one that was timed. */
const LONGER = 1.3;

for (const kind of testedKinds('mariadb')) {
  const part = trials(`kills/reset-${kind}`);
  if (part.isEmpty) continue;
  describeWithKind(kind, 'base copies, when the whole process group is killed', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;
    let pristine: string;
    let pristineTables: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: folder.path,
        targets: { app: { snapshot: { src_url, dst_url } } },
      });
      await server.create('source');
      await server.run('source', [...ITEMS[kind === 'postgres' ? 'postgres' : 'mysql'], ...FILL]);
      await tool.done(['build', 'app']);
      await tool.done(['load', 'app', '--spare']);
      pristine = await server.content('copy');
      pristineTables = await tables();
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    async function tables(): Promise<string> {
      await server.quiet();
      return server.tables('copy');
    }

    async function changed(number: number): Promise<string> {
      await server.run('copy', [
        `CREATE TABLE mine_${number} (id integer)`,
        'DELETE FROM child',
        'DELETE FROM item WHERE id % 2 = 0',
      ]);
      return tables();
    }

    /** PostgreSQL: copies that are there are closed, and hold what the snapshot holds. */
    async function expectWholeCopies(at: string): Promise<void> {
      for (const name of kind === 'postgres' ? ['copy.tool-base', 'copy.tool-spare'] : []) {
        if (!(await server.databases()).includes(name)) continue;
        const open = await server.column('', `SELECT datallowconn FROM pg_database WHERE datname = '${name}'`);
        expect(open, `${at}: ${name} is open`).toEqual(['f']);
        await server.run('', [`CREATE DATABASE opened TEMPLATE "${name}"`]);
        expect(await server.content('opened'), `${at}: ${name} differs from the snapshot`).toBe(pristine);
        await server.drop('opened');
      }
    }

    it(part.title('are whole or absent, as is the destination, and lead back to the snapshot'), {
      timeout: part.timeout,
    }, async () => {
      const durations = new Map<string[], number>();
      const unfinished = new Set<boolean>();
      await part.each(async ({ number, fraction }) => {
        const words = COMMANDS[number % COMMANDS.length] as string[];
        const duration = durations.get(words) ?? (await tool.done(words));
        durations.set(words, duration);
        const dirty = await changed(number);
        await tool.killedAfter(LONGER * duration * fraction, words);
        const at = `${words.join(' ')} killed after ${fraction} of its time`;
        const now = await tables();
        expect([dirty, pristineTables].includes(now), `${at}: the destination is neither old nor new`).toBe(true);
        unfinished.add(now === dirty);
        await expectWholeCopies(at);
        // Whatever was killed, the base copy that is there still leads back to the snapshot.
        await tool.done(['reset', 'app']);
        expect(await server.content('copy'), at).toBe(pristine);
        expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
      });
      // Moments that all fall before or after the swap would show nothing.
      if (part.isLong) expect(unfinished.size).toBe(2);
    });
  });
}
