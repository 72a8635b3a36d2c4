import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { toJsonSchema } from '@valibot/to-json-schema';
import { expect, it } from 'vitest';
import { TOOLS } from '../../src/mcp/tools.ts';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

describeWithPostgres('an agent without allowances', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  it('changes, reads and reaches nothing else by hostile arguments of any tool', async () => {
    let connections = 0;
    const far = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((listening) => far.listen(0, '127.0.0.1', listening));
    const { port } = far.address() as { port: number };
    const farUrl = `postgres://u:Far-secret-1@127.0.0.1:${port}/x`;
    await server.createDatabase('source');
    await server.createDatabase('copy');
    await server.psql('source', {
      sql: "CREATE TABLE person (id integer PRIMARY KEY, name text); INSERT INTO person VALUES (1, 'Canary-value-9')",
    });
    const work = join(folder.path, 'work');
    const targets = {
      app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } },
      far: { snapshot: { src_url: server.url('far_source'), dst_url: server.url('far_copy') } },
    };
    const context = testContext({ settings: { working_directory: work, targets, defaults: { cpus: 2 } } });
    await build(context, { target: 'app', push: false });
    await applyLoad(context, await planLoad(context, { target: 'app', keepBase: true }));
    const project = join(folder.path, 'project');
    await mkdir(project);
    await writeFile(join(folder.path, 'outside.sql'), 'SELECT 1');
    await symlink(join(folder.path, 'outside.sql'), join(project, 'link.sql'));
    await writeFile(
      join(project, 'tool.yml'),
      JSON.stringify({ secret_key: 'ab'.repeat(16), working_directory: work, targets }),
      { mode: 0o600 },
    );
    const transport = new StdioClientTransport({
      ...{ command: process.execPath, args: [PROGRAM, 'mcp'], cwd: project, stderr: 'pipe' },
      env: { PATH: process.env.PATH ?? '', HOME: folder.path, TOOL_TRUST: 'true' },
    });
    const stderr = text(transport.stderr as Readable);
    const client = new Client({ name: `x\u202e\n${'n'.repeat(5000)}`, version: '1' });
    await client.connect(transport);
    const hostile: unknown[] = [
      ...['far', '', '../../etc/passwd', '/etc/passwd', `http://127.0.0.1:${port}/`, farUrl, '__proto__', 'a\0b'],
      ...['a"; DROP DATABASE copy; --', '$(touch x)', '{{`HOME` | env}}', '-x', '\ud800', 'x'.repeat(100_000)],
      ...['link.sql', './x/../../outside.sql', 'source', null, 2 ** 53, {}, ['../x'], { $ref: '#' }],
    ];
    const valid: Record<string, unknown> = {
      target: 'app',
      name: 'own',
      names: ['own'],
      snapshot: '0',
      a: '0',
      b: '0',
      token: 'x',
      row: 'a:1',
      sql: 'SELECT 1',
      port,
    };
    const before = await state();
    const answers: string[] = [];
    const call = async (name: string, given: Record<string, unknown>) => {
      const answer = await client.callTool({ name, arguments: given }).catch((error) => ({ error: String(error) }));
      answers.push(JSON.stringify(answer).replaceAll('\\"', '"'));
    };
    for (const { name, input } of TOOLS) {
      const { properties = {}, required = [] } = toJsonSchema(input, { typeMode: 'input', errorMode: 'ignore' });
      const base = Object.fromEntries(required.map((key) => [key, valid[key] ?? 'x']));
      if (name === 'create_branch' || name === 'save') base.name = '../x';
      for (const key of Object.keys(properties)) {
        for (const value of hostile) await call(name, { ...base, [key]: value });
      }
      for (const extra of ['destdb', 'original', 'owner', '__proto__']) {
        await call(name, Object.fromEntries([...Object.entries(base), [extra, farUrl]]));
      }
    }
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => call(n % 2 ? 'list_branches' : 'plan_load', { target: 'app' })),
    );
    const cancel = new AbortController();
    const going = client
      .callTool({ name: 'create_branch', arguments: { target: 'app', name: 'cut' } }, undefined, {
        signal: cancel.signal,
      })
      .catch(() => null);
    cancel.abort();
    await going;
    for (const uri of ['file:///etc/passwd', `http://127.0.0.1:${port}/`])
      await expect(client.readResource({ uri })).rejects.toThrow();
    await expect(client.listPrompts()).rejects.toThrow();
    expect(await state()).toEqual(before);
    expect(connections).toBe(0);
    for (const secret of ['Canary-value-9', new URL(server.url('copy')).password, 'root:x', '"unexpected']) {
      expect(answers.filter((answer) => answer.includes(secret)).slice(0, 3)).toEqual([]);
    }
    await client.close();
    expect(await stderr).toBe('');
    far.close();

    async function state() {
      const files = (await readdir(folder.path, { recursive: true, withFileTypes: true }))
        .map((entry) => join(entry.parentPath, entry.name))
        // The log has a line of every call.
        .filter((path) => !/\.log$|lock|cache/i.test(path))
        .sort();
      return { databases: (await server.databases()).sort(), files };
    }
  }, 400_000);
});
