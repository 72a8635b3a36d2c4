import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const FILL = `CREATE TABLE team (id integer PRIMARY KEY, name text NOT NULL);
  CREATE TABLE person (id integer PRIMARY KEY, team integer NOT NULL REFERENCES team);
  INSERT INTO team VALUES (1, 'red'), (2, 'blue');
  INSERT INTO person SELECT i, 1 + i % 2 FROM generate_series(1, 50) i`;

describeWithPostgres('tool mcp with --allow', () =>
  describeWithS3('and a bucket', () => {
    let server: TestPostgres;
    let s3: S3Server;
    const folder = suiteResource(() => temporaryFolder());
    const clients: Client[] = [];

    beforeAll(async () => {
      [server, s3] = await Promise.all([startPostgres(), startS3()]);
      await server.createDatabase('source');
      await server.createDatabase('copy');
      await server.psql('source', { sql: FILL });
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const subset = {
        ...{ src_url: server.url('source'), dst_url: server.url('part') },
        subset_tables: [{ table: 'public.person', where: 'id = 7' }],
      };
      await writeFile(
        join(folder.path, 'tool.yml'),
        JSON.stringify({
          secret_key: 'ab'.repeat(16),
          working_directory: join(folder.path, 'work'),
          defaults: { cpus: 2 },
          storage_profiles: { team: await s3.bucket() },
          targets: { app: { storage_profile: 'team', snapshot, subset } },
        }),
        { mode: 0o600 },
      );
    }, 120_000);

    afterAll(async () => {
      for (const client of clients) await client.close();
      await Promise.all([server?.stop(), s3?.stop()]);
    });

    async function start(...allow: string[]) {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM, 'mcp', '--as', 'me', ...allow.flatMap((word) => ['--allow', word])],
        env: { PATH: process.env.PATH ?? '', HOME: folder.path, TOOL_TRUST: 'true' },
        cwd: folder.path,
        stderr: 'ignore',
      });
      const client = new Client({ name: 'test-client', version: '1.0.0' });
      clients.push(client);
      await client.connect(transport);
      await client.listTools();
      return async (name: string, given: object): Promise<Record<string, unknown>> => {
        const answer = await client.callTool({ name, arguments: { target: 'app', ...given } });
        expect(answer).not.toMatchObject({ isError: true });
        return answer.structuredContent as Record<string, unknown>;
      };
    }
    const count = async (database: string) =>
      Number(await server.psql(database, { sql: 'SELECT count(*) FROM person' }));

    it('pushes what it builds with build,push, and pulls what it loads with load,pull', async () => {
      const builder = await start('build,push');
      const { token } = await builder('plan_build', {});
      expect(await builder('build', { token })).toMatchObject({ snapshot: { where: ['local', 'remote'] } });
      for (const name of await readdir(join(folder.path, 'work'))) {
        if (name !== 'logs') await rm(join(folder.path, 'work', name), { recursive: true });
      }
      expect(await builder('list_snapshots', {})).toMatchObject({ snapshots: [] });
      const loader = await start('load,pull,originals');
      expect(await loader('list_snapshots', {})).toMatchObject({ snapshots: [{ where: ['remote'] }] });
      const { token: ofLoad } = await loader('plan_load', {});
      expect(await loader('load', { token: ofLoad })).toMatchObject({ rows: 52 });
      expect(await count('copy')).toBe(50);
    }, 120_000);

    it('explains why a row is in the subset with sources', async () => {
      const reader = await start('sources');
      expect(await reader('explain_row', { row: 'public.team:2' })).toMatchObject({
        chain: [
          { table: 'public.team', key: '2' },
          { table: 'public.person', key: '7' },
        ],
      });
      expect(await reader('explain_row', { row: 'public.team:1' })).toMatchObject({ chain: null });
    });
  }),
);
