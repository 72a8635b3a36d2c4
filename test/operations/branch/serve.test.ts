import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type ClientRequest, type OutgoingHttpHeaders, request } from 'node:http';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../../src/operations/branch/drop/drop.ts';
import { applyBranchReset, planBranchReset } from '../../../src/operations/branch/reset/reset.ts';
import { applyBranchServe, planBranchServe } from '../../../src/operations/branch/serve/serve.ts';
import { servingLines } from '../../../src/operations/branch/serve/text.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import type { RunEvent, ServingEvent } from '../../../src/results/events.ts';
import { interrupted } from '../../../src/runtime/errors.ts';
import { normalized } from '../../helpers/databases/build-and-load.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../../helpers/program.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FILL = `
  CREATE TABLE person (id serial PRIMARY KEY, name text);
  INSERT INTO person (name) SELECT 'person ' || i FROM generate_series(1, 2000) i;
  CREATE TABLE log (line text); INSERT INTO log VALUES ('same'), ('same')`;
const CHANGE = `UPDATE person SET name = 'changed' WHERE id % 7 = 0; DELETE FROM person WHERE id > 1900;
  INSERT INTO log VALUES ('same'); SELECT nextval('person_id_seq')`;
const LOSE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

describeWithPostgres('branches that are reset in place', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let pristine: string;
  let events: RunEvent[] = [];

  beforeAll(async () => {
    for (const name of ['source', 'copy']) await server.createDatabase(name);
    await server.psql('source', { sql: FILL });
    await build(contextWith(), { target: 'app' });
    // The base copy is loaded for the branches alone.
    const planned = await planBranchCreate(contextWith(), { target: 'app', name: 'test', count: 3 });
    await applyBranchCreate(contextWith(), planned);
    pristine = await content(1);
  }, 60_000);

  beforeEach(() => {
    events = [];
  });

  function contextWith(signal?: AbortSignal) {
    const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app }, defaults: { cpus: 2 } };
    return testContext({ settings, events, ...(signal && { signal }) });
  }

  const content = async (branch: number) => normalized(await server.dump(`copy_test_${branch}`)).join(';\n');
  const sql = (branch: number, text: string) => server.psql(`copy_test_${branch}`, { sql: text });

  it('are as the base copy, several at once, and others are replaced by a copy', async () => {
    for (const branch of [1, 2, 3]) await sql(branch, CHANGE);
    await sql(2, 'CREATE TABLE mine (id integer)');
    const reset = async (more = {}) => {
      const given = { target: 'app', name: 'test', all: true, ...more };
      return (await applyBranchReset(contextWith(), asData(await planBranchReset(contextWith(), given)))).branches;
    };
    const done = await reset();
    for (const branch of [1, 2, 3]) expect(await content(branch)).toBe(pristine);
    expect(done).toMatchObject([
      { name: 'test_1', way: 'in_place', way_reason: null, swap_ms: null },
      { name: 'test_2', way: 'copy', way_reason: 'definitions have changed', swap_ms: expect.any(Number) },
      { name: 'test_3', way: 'in_place' },
    ]);
    // The copy is as good as the others, and so is the base copy.
    await sql(2, CHANGE);
    expect(await reset()).toMatchObject([{ way: 'in_place' }, { way: 'in_place' }, { way: 'in_place' }]);
    expect(await reset({ copy: true, all: false, name: 'test_2' })).toMatchObject([
      { way: 'copy', way_reason: '--copy was given' },
    ]);
    expect(await content(2)).toBe(pristine);
  });

  async function serve(tcp: boolean, use: (address: ServingEvent, post: Post) => Promise<void>) {
    const ending = new AbortController();
    const { promise: serving, resolve, reject } = Promise.withResolvers<ServingEvent>();
    const context = {
      ...contextWith(ending.signal),
      report: (event: RunEvent) => (event.event === 'serving' ? resolve(event) : void events.push(event)),
    };
    const planned = asData(await planBranchServe(context, { target: 'app', name: 'test', tcp }));
    const served = applyBranchServe(context, planned);
    served.catch(reject);
    const address = await serving;
    try {
      await use(address, (path, options) => send(address, path, options));
    } finally {
      ending.abort(interrupted());
    }
    return served;
  }

  interface Sent {
    method?: string;
    headers?: OutgoingHttpHeaders;
  }
  type Post = (
    path: string,
    options?: Sent,
  ) => Promise<{ status?: number | undefined; connection?: string | undefined; body: string }>;

  function send(address: ServingEvent, path: string, { method = 'POST', headers = {} }: Sent = {}) {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Post>>>();
    const { hostname, port } = new URL(address.url ?? 'http://localhost');
    const authorization = address.token === null ? {} : { authorization: `Bearer ${address.token}` };
    const where = address.socket === null ? { hostname, port } : { socketPath: address.socket };
    const sent: ClientRequest = request({ ...where, path, method, headers: { ...authorization, ...headers } });
    sent.on('error', reject).on('response', async (response) => {
      const { connection } = response.headers;
      resolve({ status: response.statusCode, connection, body: await text(response) });
    });
    sent.end();
    return promise;
  }

  it('are reset on request, over a socket that only this user can use, by copy where that is needed', async () => {
    const result = await serve(false, async ({ socket, url, token, branches }, post) => {
      expect([url, token]).toEqual([null, null]);
      expect(branches).toContainEqual({ branch: 'test_3', path: '/reset/3' });
      expect(servingLines({ socket, url, token, branches })[0]).toBe(
        `test_1: curl -X POST --unix-socket ${socket} http://localhost/reset/1`,
      );
      const modes = [socket ?? '', dirname(socket ?? '')].map((path) => (statSync(path).mode & 0o777).toString(8));
      expect(modes).toEqual(['600', '700']);
      for (let round = 0; round < 3; round += 1) {
        for (const branch of [1, 2, 3]) await sql(branch, CHANGE);
        const answers = await Promise.all([1, 2, 3].map((branch) => post(`/reset/${branch}`)));
        expect(answers.map(({ status, body }) => [status, JSON.parse(body).way])).toEqual(
          [1, 2, 3].map(() => [200, 'in_place']),
        );
        for (const branch of [1, 2, 3]) expect(await content(branch)).toBe(pristine);
      }
      await sql(1, 'CREATE TABLE mine (id integer)');
      const twice = await Promise.all([post('/reset/1'), post('/reset/1')]);
      expect(twice.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(twice.find(({ status }) => status === 200)?.body).toMatch('"way_reason":"definitions have changed"');
      await sql(1, CHANGE);
      expect((await post('/reset/1')).body).toMatch('"way":"in_place"');
      expect(await content(1)).toBe(pristine);
    });
    expect(result).toEqual({ target: 'app', in_place: 10, by_copy: 1 });
    expect(existsSync(join(folder.path, 'work', 'staging'))).toBe(true);
  });

  it('are reset by the command until a signal ends it, and a killed one leaves nothing behind the next', async () => {
    const config = join(folder.path, 'tool.yml');
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const settings = { secret_key: 'ab'.repeat(16), working_directory: join(folder.path, 'work') };
    await writeFile(config, JSON.stringify({ ...settings, targets: { app: { snapshot } } }), { mode: 0o600 });
    const start = async () => {
      const args = [PROGRAM, '--config', config, '--yes', '--json', 'branch', 'serve', 'app', 'test'];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'close');
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      return { child, ended, address: JSON.parse(line) as ServingEvent };
    };
    const killed = await start();
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(existsSync(killed.address.socket ?? '')).toBe(true);
    const { child, ended, address } = await start();
    expect(existsSync(dirname(killed.address.socket ?? ''))).toBe(false);
    await sql(1, CHANGE);
    expect(await send(address, '/reset/1')).toMatchObject({ status: 200 });
    expect(await content(1)).toBe(pristine);
    child.kill('SIGTERM');
    await ended;
    expect(existsSync(dirname(address.socket ?? ''))).toBe(false);
  });

  it('are reset by the clients of the example', async () => {
    await serve(false, async (address) => {
      const file = join(folder.path, 'reset.json');
      await writeFile(file, `${JSON.stringify(address)}\n`);
      const clients = fileURLToPath(new URL('../../../examples/test-workers/clients/', import.meta.url));
      const python = `import sys; sys.path.insert(0, sys.argv[1]); from reset import reset; reset(1, sys.argv[2])`;
      const ruby = 'require ARGV[0] + "reset.rb"; reset_branch(1, file: ARGV[1])';
      const node = 'require(process.argv[1] + "reset.cjs").reset(1, process.argv[2])';
      const runs: [program: string, args: string[]][] = [
        [process.execPath, ['-e', node, clients, file]],
        ['python3', ['-B', '-c', python, clients, file]],
        ['ruby', ['-e', ruby, clients, file]],
      ];
      for (const [program, args] of runs) {
        await sql(1, CHANGE);
        // What is not installed is not tried.
        const missing = await promisify(execFile)(program, args, { timeout: 30_000 }).catch((error) => error);
        if (missing?.code !== 'ENOENT') expect([program, await content(1)]).toEqual([program, pristine]);
      }
    });
  });

  it('are reset over a port by who has the token, and by no page of a browser', async () => {
    await serve(true, async ({ socket, url }, post) => {
      expect(socket).toBeNull();
      await sql(1, CHANGE);
      const refused: [number, string, Sent][] = [
        [401, '/reset/1', { headers: { authorization: 'Bearer guess' } }],
        [401, '/reset/1', { headers: { authorization: 'Bearer guess', expect: 'anything' } }],
        [403, '/reset/1', { headers: { origin: 'http://evil.example' } }],
        [403, '/reset/1', { headers: { 'sec-fetch-site': 'none' } }],
        [421, '/reset/1', { headers: { host: 'rebound.example' } }],
        [405, '/reset/1', { method: 'GET' }],
        [413, '/reset/1', { headers: { 'content-length': 5000 } }],
        [404, '/reset', {}],
        [404, '/reset/4', {}],
        [404, '/reset/1?x', {}],
        [404, '/reset/../reset/1', {}],
      ];
      for (const [status, path, options] of refused) {
        // So that strangers cannot keep all connections.
        const answer = await post(path, options);
        expect([path, answer.status, answer.connection]).toEqual([path, status, 'close']);
      }
      expect(await content(1)).not.toBe(pristine);
      expect(new URL(url ?? '').hostname).toBe('127.0.0.1');
      expect(await post('/reset/1')).toMatchObject({ status: 200, connection: 'keep-alive' });
      expect(await content(1)).toBe(pristine);
    });
  });

  it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
    'are reset over a port whatever connections another user of the machine keeps open',
    async () => {
      await serve(true, async ({ url }, post) => {
        const script = `let left = 200; const { connect } = require('node:net');
          const opened = () => (left -= 1) || console.log('open');
          for (let at = left; at > 0; at -= 1) connect(process.argv[1], '127.0.0.1', opened).on('error', () => {});`;
        const flood = spawn(process.execPath, ['-e', script, new URL(url ?? '').port], {
          ...{ uid: 65_534, gid: 65_534, cwd: '/' },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        onTestFinished(() => void flood.kill('SIGKILL'));
        await once(flood.stdout, 'data');
        expect(await post('/reset/1')).toMatchObject({ status: 200 });
      });
    },
  );

  it('are reset with new sessions where those of the last reset were lost', async () => {
    await serve(false, async (_, post) => {
      const given = { target: 'app', name: 'test_1', copy: true };
      const copy = async () => applyBranchReset(contextWith(), await planBranchReset(contextWith(), given));
      for (const lose of [() => server.psql('postgres', { sql: LOSE }), copy]) {
        expect(await post('/reset/1')).toMatchObject({ status: 200 });
        await lose();
        await sql(1, CHANGE);
        const { status, body } = await post('/reset/1');
        expect([status, JSON.parse(body)]).toMatchObject([200, { way: 'in_place' }]);
        expect(await content(1)).toBe(pristine);
      }
    });
  });

  it('are refused where they have become protected, another one, or the destination', async () => {
    const planServe = () => planBranchServe(contextWith(), { target: 'app', name: 'test' });
    const mark = (from: boolean, to: boolean) =>
      server.psql('postgres', {
        sql: `DO $$ BEGIN EXECUTE format('COMMENT ON DATABASE copy_test_1 IS %L', (SELECT replace(
          shobj_description(oid, 'pg_database'), '"protected":${from}', '"protected":${to}')
          FROM pg_database WHERE datname = 'copy_test_1')); END $$`,
      });
    await serve(false, async (_, post) => {
      const codeOf = async (path: string) => {
        const { status, body } = await post(path);
        return [status, JSON.parse(body).error?.code];
      };
      for (const branch of [1, 2, 3]) expect(await post(`/reset/${branch}`)).toMatchObject({ status: 200 });
      for (const branch of [1, 3]) await sql(branch, CHANGE);
      const changed = await content(1);
      await mark(false, true);
      expect(await codeOf('/reset/1')).toEqual([500, 'branch_protected']);
      await expect(planServe()).rejects.toMatchObject({ code: 'branch_protected' });
      await mark(true, false);
      expect(await content(1)).toBe(changed);

      await applyBranchDrop(contextWith(), await planBranchDrop(contextWith(), { target: 'app', names: ['test_2'] }));
      await applyBranchCreate(contextWith(), await planBranchCreate(contextWith(), { target: 'app', name: 'test_2' }));
      await sql(2, CHANGE);
      expect(await codeOf('/reset/2')).toEqual([500, 'plan_outdated']);
      expect(await content(2)).toBe(changed);

      await applyBranchSwitch(contextWith(), await planBranchSwitch(contextWith(), { target: 'app', name: 'test_3' }));
      expect(await codeOf('/reset/3')).toEqual([500, 'branch_current']);
      await expect(planServe()).rejects.toMatchObject({ code: 'branch_current' });
      expect(normalized(await server.dump('copy')).join(';\n')).toBe(changed);
    });
  });
});
