import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

const ROWS = 20_000;
const numbers = (kind: string): string =>
  kind === 'postgres'
    ? `SELECT i, 'note ' || i FROM generate_series(1, ${ROWS}) i`
    : `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT i, CONCAT('note ', i) FROM n`;
const limit = (kind: string): string[] =>
  kind === 'mariadb'
    ? ['SET max_recursive_iterations = 1000000']
    : kind === 'mysql'
      ? ['SET cte_max_recursion_depth = 1000000']
      : [];

/** Moments of the run, of which the last ones are around its commit. */
const MOMENTS = process.env.TEST_FULL === '1' ? [0.3, 0.6, 0.75, 0.85, 0.9, 0.95, 1] : [0.8, 0.95];

/** The tables of MySQL and MariaDB are locked where they have triggers. */
const TRIGGERS = [
  'CREATE TABLE heard (id INT)',
  'CREATE TRIGGER one AFTER INSERT ON big FOR EACH ROW BEGIN INSERT INTO heard VALUES (1); END',
  'CREATE TRIGGER two AFTER INSERT ON big FOR EACH ROW BEGIN INSERT INTO heard VALUES (2); END',
  'CREATE TRIGGER three AFTER DELETE ON small FOR EACH ROW BEGIN INSERT INTO heard VALUES (3); END',
];

const VARIANTS = testedKinds('mariadb').flatMap((kind) => {
  const hasBoth = process.env.TEST_FULL === '1' && kind !== 'postgres';
  return [[], ...(hasBoth ? [TRIGGERS] : [])].map((triggers: string[]) => ({ kind, triggers }));
});

for (const { kind, triggers } of VARIANTS) {
  const which = triggers.length > 0 ? ' of tables with triggers' : '';
  describeWithKind(kind, `a load of only rows${which} whose program or session is killed`, () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;
    let load: string[];
    let older: string;
    let newer: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind, 'defaults'), temporaryFolder()]);
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: folder.path,
        targets: { app: { snapshot: { src_url, dst_url } } },
      });
      await server.create('source');
      await server.run('source', [
        ...limit(kind),
        'CREATE TABLE big (id INT PRIMARY KEY, note VARCHAR(40))',
        'CREATE TABLE small (id INT PRIMARY KEY, big INT, FOREIGN KEY (big) REFERENCES big (id))',
        `INSERT INTO big ${numbers(kind)}`,
        'INSERT INTO small VALUES (1, 1), (2, 2)',
        ...triggers,
      ]);
      await tool.done(['build', 'app']);
      await tool.done(['load', 'app']);
      newer = await server.content('copy');
      await change();
      older = await server.content('copy');
      const prefix = server.prefix('source');
      load = ['load', 'app', '--tables', `${prefix}.big,${prefix}.small`, '--only'];
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    async function change(): Promise<void> {
      await server.quiet();
      await server.run('copy', [
        'DELETE FROM small',
        'DELETE FROM big',
        `INSERT INTO big VALUES (1, 'mine'), (${ROWS + 1}, 'mine')`,
        'INSERT INTO small VALUES (9, 1)',
        ...(triggers.length > 0 ? ['TRUNCATE heard'] : []),
      ]);
    }

    /** The next run sweeps, and undo leads back. */
    async function expectOldOrNew(at: string): Promise<void> {
      await server.quiet();
      const now = await server.content('copy');
      expect([older, newer].includes(now), `${at}: the destination is neither old nor new`).toBe(true);
      await tool.done(['load', 'app', '--tables', load[3] ?? '', '--only']);
      expect(await server.content('copy'), at).toBe(newer);
      await tool.done(['undo', 'app']);
      expect(await server.content('copy'), at).toBe(now);
      expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'source']);
      if (now === newer) await change();
    }

    it('leaves the destination old or new, and the next run and an undo work', { timeout: 300_000 }, async () => {
      const duration = await tool.done(load);
      expect(await server.content('copy')).toBe(newer);
      await tool.done(['undo', 'app']);
      expect(await server.content('copy')).toBe(older);
      for (const moment of MOMENTS) {
        await tool.killedAfter(duration * moment, load);
        await expectOldOrNew(`killed after ${moment} of its time`);
      }
      for (const pick of [(count: number) => count - 1, () => 0]) {
        const run = tool.start(load);
        await run.said('"event":"step","step":"restore"');
        await expect.poll(() => server.killSession(pick), { timeout: 20_000 }).toBe(true);
        await run.ended;
        await expectOldOrNew('a session was killed');
      }
    });
  });
}
