import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../../helpers/storage/leftovers.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

const NUMBERS = Array.from({ length: 5000 }, (_, id) => id);
const FILL = [
  'CREATE TABLE account (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
  'CREATE TABLE letter (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, FOREIGN KEY (account_id) REFERENCES account (id))',
  'CREATE INDEX letter_account ON letter (account_id)',
  `INSERT INTO account VALUES ${NUMBERS.map((id) => `(${id}, 'name ${id}')`).join(',')}`,
  `INSERT INTO letter VALUES ${NUMBERS.map((id) => `(${id}, ${(id * 7) % 5000})`).join(',')}`,
];

for (const kind of SERVER_KINDS) {
  describeWithKind(kind, 'a subset that Ctrl-C ends', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await server.create('source');
      await server.run('source', FILL);
      const subsetOf = (percent: number) => ({
        src_url: server.url('source'),
        dst_url: server.url('small'),
        subset_tables: [{ table: `${server.prefix('source')}.account`, percent }],
      });
      tool = await toolIn(folder.path, {
        working_directory: folder.path,
        targets: { half: { subset: subsetOf(50) }, most: { subset: subsetOf(80) } },
      });
      for (const target of ['half', 'half']) await tool.done(['subset', target]);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it.each(['read', 'copy', 'prove'])(
      'leaves the destination as it was in step %s, and nothing else',
      async (step) => {
        const before = await server.content('small');
        const run = tool.start(['subset', 'most']);
        await run.said(`"step":"${step}","state":"started"`);
        process.kill(-(run.child.pid ?? 0), 'SIGINT');
        expect(await run.ended).toMatchObject({ code: 130 });
        await server.quiet();
        expect(await server.content('small')).toBe(before);
        expect(await server.databases()).toEqual(['small', 'small.tool-undo', 'source']);
        expect(await stagingLeftovers(folder.path)).toEqual([]);
      },
      120_000,
    );
  });
}
