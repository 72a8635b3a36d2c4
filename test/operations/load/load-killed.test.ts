import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../../helpers/storage/leftovers.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';
import { trials } from '../../helpers/trials.ts';

/** Enough work that every step of a load takes its time. */
const POSTGRES = {
  fill: [
    'CREATE TABLE parent (id integer PRIMARY KEY, name text NOT NULL)',
    'INSERT INTO parent SELECT i, md5(i::text) FROM generate_series(1, 40000) i',
    'CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL REFERENCES parent, note text)',
    'INSERT INTO child SELECT i, 1 + i % 40000, md5((i * 7)::text) FROM generate_series(1, 80000) i',
    'CREATE INDEX ON child (parent_id)',
    'CREATE INDEX ON child (note)',
  ],
  change: ["UPDATE parent SET name = 'changed' WHERE id % 2 = 0", 'CREATE INDEX ON parent (name)'],
};

/** The same, and everything that cannot move with its tables. */
const MYSQL = {
  fill: [
    'CREATE TABLE numbers (n INT PRIMARY KEY)',
    'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
    'CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)',
    'INSERT INTO parent SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n, LEFT(SHA2(a.n + 10 * b.n + 100 * c.n + 1000 * d.n, 256), 32) FROM numbers a, numbers b, numbers c, numbers d',
    'CREATE TABLE child (id INT PRIMARY KEY, parent_id INT NOT NULL, note VARCHAR(40), KEY (note), FOREIGN KEY (parent_id) REFERENCES parent (id))',
    'INSERT INTO child SELECT p.id * 3 + n.n, p.id, LEFT(SHA2(p.id * 7 + n.n, 256), 32) FROM parent p, numbers n WHERE n.n < 3',
    'CREATE VIEW notes AS SELECT name, note FROM parent JOIN child ON parent_id = parent.id',
    'CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
    'CREATE TRIGGER named BEFORE INSERT ON parent FOR EACH ROW SET NEW.name = UPPER(NEW.name)',
  ],
  change: [
    "UPDATE parent SET name = 'changed' WHERE id % 2 = 0",
    'CREATE INDEX by_name ON parent (name)',
    'CREATE TABLE extra (id INT PRIMARY KEY)',
    'CREATE OR REPLACE VIEW notes AS SELECT note FROM child',
    'DROP TRIGGER named',
    "CREATE TRIGGER renamed BEFORE UPDATE ON child FOR EACH ROW SET NEW.note = 'renamed'",
  ],
};

for (const kind of testedKinds('mysql')) {
  const part = trials(`kills/load-${kind}`);
  if (part.isEmpty) continue;
  describeWithKind(kind, 'a load whose whole process group is killed', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      const { fill, change } = kind === 'postgres' ? POSTGRES : MYSQL;
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: folder.path,
        targets: { app: { snapshot: { src_url, dst_url } } },
      });
      await server.create('source');
      for (const statements of [fill, change]) {
        await server.run('source', statements);
        await tool.done(['build', 'app']);
      }
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    const load = (index: number): string[] => ['load', 'app', String(index)];

    async function tables(): Promise<string> {
      await server.quiet();
      return server.tables('copy');
    }

    it(part.title('leaves the tables as they were, or the finished new ones, and the next run sweeps'), {
      timeout: part.timeout,
    }, async () => {
      await tool.done(load(1));
      const older = { content: await server.content('copy'), tables: await tables() };
      const duration = await tool.done(load(0));
      const newer = { content: await server.content('copy'), tables: await tables() };
      expect(newer.tables).not.toBe(older.tables);

      let present = newer;
      let finished = 0;
      let sweepable = 0;
      await part.each(async ({ fraction }) => {
        const [index, wanted] = present === newer ? [1, older] : [0, newer];
        await tool.killedAfter(duration * fraction, load(index));
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

      await tool.done(load(0));
      expect(await server.content('copy')).toBe(newer.content);
      expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'source']);
      expect(await stagingLeftovers(folder.path)).toEqual([]);
    });
  });
}
