import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { build } from '../../../src/operations/build/build.ts';
import { rehearseOperation } from '../../../src/operations/rehearse/operation.ts';
import { applyRehearsal, planRehearsal, type RehearseRequest } from '../../../src/operations/rehearse/rehearse.ts';
import { listServers } from '../../../src/operations/servers/list/list.ts';
import { findServers } from '../../../src/operations/servers/records.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { itIf } from '../../helpers/it-if.ts';
import { withMysqlServerPrograms } from '../../helpers/mysql/mysql-programs.ts';
import { eventually, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

for (const kind of testedKinds('mariadb')) {
  describeWithKind(kind, 'a rehearsal on a server of its own', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let settings: Partial<Settings>;
    let tool: Tool;
    let withServers: (context: Context) => Context = (context) => context;

    beforeAll(async () => {
      folder = await temporaryFolder({ mode: 0o755 });
      server = await startAnyServer(kind);
      await server.create('source');
      await server.run('source', [
        'CREATE TABLE person (id integer PRIMARY KEY, age integer)',
        'INSERT INTO person VALUES (1, 30), (2, 40), (3, 50)',
      ]);
      // Without a destination.
      const targets = { app: { snapshot: { src_url: server.url('source') } } };
      settings = { working_directory: join(folder.path, 'work'), targets };
      await mkdir(join(folder.path, 'work'));
      tool = await toolIn(folder.path, settings);
      if (kind === 'mysql') {
        const { environment, runner } = await withMysqlServerPrograms(testContext({ settings }), folder.path);
        withServers = (context) => ({ ...context, environment, runner });
      }
      await build(contextOf(), { target: 'app' });
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    const contextOf = (signal?: AbortSignal): Context =>
      withServers(testContext({ settings, ...(signal && { signal }) }));
    const planned = (request: Partial<RehearseRequest>) =>
      planRehearsal(contextOf(), { target: 'app', server: true, ...request });
    const within = (name: string): string[] => {
      const path = join(folder.path, 'work', name);
      return existsSync(path) ? readdirSync(path) : [];
    };
    const sqlFile = async (text: string): Promise<string> => {
      const path = join(folder.path, 'change.sql');
      await writeFile(path, text);
      return path;
    };
    const sleep = kind === 'postgres' ? 'SELECT pg_sleep(600);' : 'SELECT sleep(600);';

    it('reports what the statements did to the snapshot, changes no other database, and leaves nothing', async () => {
      const before = await server.databases();
      const sql = await sqlFile('ALTER TABLE person ADD note text;\nDELETE FROM person WHERE id > 1;\n');
      const work = await planned({ sql });
      const { title, facts, steps, consequence } = rehearseOperation.question(work.plan, new Date());
      expect({ title, names: facts.map(({ name }) => name), consequence }).toEqual({
        title: 'Rehearse a migration of app',
        names: ['Snapshot', 'Server', 'Ends', 'Runs'],
        consequence: 'Nothing is replaced: the server has files of its own.',
      });
      expect(steps.at(-1)).toBe('Stop the server, and remove its files');
      const result = await applyRehearsal(contextOf(), work);
      expect(result).toMatchObject({ outcome: 'passed', snapshot: work.plan.load?.id, kept: false, database: 'app' });
      expect(result.rows).toMatchObject([{ before: 3, after: 1 }]);
      expect(result.definitions).toMatchObject([{ change: 'changed' }]);
      expect(result.statements).toHaveLength(2);
      expect(await server.databases()).toEqual(before);
      expect(await server.column('source', 'SELECT count(*) FROM person')).toEqual(['3']);
      expect([...within('servers'), ...(await listServers(contextOf())).servers]).toEqual([]);
      expect(within('images')).toHaveLength(1);
      expect((await planned({ sql })).plan.server?.image).toBe('stored');
    }, 120_000);

    it('ends its server when the work fails, drops every table, and when the file is no SQL', async () => {
      const failed = await applyRehearsal(contextOf(), await planned({ command: ['sh', '-c', 'exit 3'] }));
      expect(failed).toMatchObject({ outcome: 'failed', works: [{ exit: 3 }] });
      const work = await planned({ sql: await sqlFile("SELECT 'open") });
      await expect(applyRehearsal(contextOf(), work)).rejects.toMatchObject({ code: 'script_refused' });
      const emptied = await applyRehearsal(contextOf(), await planned({ sql: await sqlFile('DROP TABLE person;') }));
      expect(emptied).toMatchObject({ outcome: 'passed', rows: [{ before: 3, after: null }] });
      const absent = planned({ sql: join(folder.path, 'absent.sql') });
      await expect(absent).rejects.toMatchObject({ code: 'file_missing' });
      expect(within('servers')).toEqual([]);
    }, 60_000);

    it('ends its server when it is interrupted, and refuses to keep it', async () => {
      const end = new AbortController();
      const running = applyRehearsal(contextOf(end.signal), await planned({ sql: await sqlFile(sleep) }));
      running.catch(() => {});
      await eventually(async () => (await listServers(contextOf())).servers.length === 1);
      end.abort();
      await expect(running).rejects.toThrow();
      expect(within('servers')).toEqual([]);
      for (const excluded of [{ keep: true }, { destdb: server.url('source') }])
        await expect(planned({ sql: await sqlFile(sleep), ...excluded })).rejects.toMatchObject({ code: 'usage' });
    }, 60_000);

    itIf(kind !== 'mysql')(
      'leaves nothing that the next command does not remove when it is killed',
      async () => {
        const run = tool.start(['rehearse', 'app', '--server', '--sql', await sqlFile(sleep)]);
        await eventually(async () => (await findServers(contextOf())).running.length === 1);
        const [{ directory, pid } = { directory: '', pid: 0 }] = (await findServers(contextOf())).running;
        expect(existsSync(directory)).toBe(true);
        run.killGroup();
        await run.ended;
        await eventually(async () => {
          await tool.done(['ps']);
          return within('servers').length === 0;
        });
        expect([existsSync(directory), existsSync(`/proc/${pid}`)]).toEqual([false, false]);
        const again = await applyRehearsal(contextOf(), await planned({ command: ['true'] }));
        expect(again).toMatchObject({ outcome: 'passed' });
      },
      60_000,
    );
  });
}
