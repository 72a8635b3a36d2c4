import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../hub/database/database.ts';
import { interrupted } from '../../src/runtime/errors.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { Sink } from '../helpers/terminal/cli-host.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

const INSTANCE = new URL('../helpers/hub/hub-instance.ts', import.meta.url).pathname;
const FAST = { supervise: 1, cron: 5, notifyAgain: 1 };
const ROUNDS = Number(process.env.TOOL_TEST_ROUNDS ?? 6);
const ROWS = 20_000;

describeWithPostgres('tool agent for a long time', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let source: string;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub({ queueTimes: FAST }), startS3()]);
      await putStorageProfile(hub, 'team', await s3.bucket());
      await hub.postgres.createDatabase('source');
      await hub.postgres.psql('source', {
        sql: `CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person SELECT i, md5(i::text) || '@example.org' FROM generate_series(1, ${ROWS}) i`,
      });
      source = hub.postgres.url('source');
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    async function newTarget(change: object = {}) {
      const name = `orders-${randomBytes(4).toString('hex')}`;
      const id = await putTarget(hub, name, { settings: { storage_profile: 'team' }, ...change });
      return { name, id, token: (await hub.service('agent', 'builder', [id])).token };
    }

    const machine = (url: string, { name, token }: { name: string; token: string }): Promise<ConfiguredCli> =>
      configuredCli(
        `env: development\ndev_api_url: ${url}\nauthtoken: ${token}\nworking_directory: ./work\n` +
          `targets:\n  ${name}: {snapshot: {src_url: "${source}"}}\n`,
      );
    const request = async (name: string): Promise<string> =>
      (await hub.send('POST', `/targets/${name}/builds`, { token: hub.ownerToken, body: {} })).body.id;
    const buildOf = async (id: string) => (await hub.send('GET', `/builds/${id}`, { token: hub.ownerToken })).body;
    const snapshotsOf = async (name: string): Promise<{ rows: number }[]> =>
      (await hub.send('GET', `/targets/${name}/snapshots`, { token: hub.ownerToken })).body.items;

    test('a schedule of every minute is built by the clock', async () => {
      const target = await newTarget({ schedule: { cron: '* * * * *', timezone: 'Europe/Berlin' } });
      const cli = await machine(hub.url, target);
      const ending = new AbortController();
      const running = cli.tool(['agent'], { signal: ending.signal });
      await eventually(async () => (await snapshotsOf(target.name)).length > 0, { deadline: 150_000 });
      ending.abort(interrupted());
      expect((await running).exit).toBe(130);
    });

    test('an agent whose lease is lost ends the build and goes on', async () => {
      const target = await newTarget();
      const cli = await machine(hub.url, target);
      const ending = new AbortController();
      const stderr = new Sink();
      const { db, [Symbol.asyncDispose]: close } = openDatabase(source);
      onTestFinished(close);
      const release = Promise.withResolvers<void>();
      const held = db.transaction().execute(async (transaction) => {
        await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(transaction);
        await sql`LOCK TABLE person IN ACCESS EXCLUSIVE MODE`.execute(transaction);
        await release.promise;
      });
      const running = cli.tool(['agent'], { signal: ending.signal, stderr });
      const id = await request(target.name);
      await eventually(async () => (await buildOf(id)).state === 'running', { deadline: 30_000 });
      const stale = sql`UPDATE pgboss.job SET heartbeat_on = now() - interval '2 minutes' WHERE id = ${id}`;
      await stale.execute(hub.database.db);
      const { token } = await hub.service('second', 'builder', [target.id]);
      const claiming = { token, body: { targets: [target.name], wait: 30 } };
      const second = (await hub.send('POST', '/builds/claim', claiming)).body.build;
      expect(second.id).toBe(id);
      await eventually(async () => stderr.text.includes('to another agent'), { deadline: 60_000 });
      release.resolve();
      await held;
      expect(await snapshotsOf(target.name)).toEqual([]);
      const released = { token, body: { lease: second.lease, outcome: 'released' } };
      expect((await hub.send('POST', `/builds/${id}/finish`, released)).status).toBe(204);
      await eventually(async () => (await buildOf(id)).state === 'done', { deadline: 60_000 });
      ending.abort(interrupted());
      await running;
    });

    test('two agents and two instances that are killed at any moment publish whole snapshots only', async () => {
      const target = await newTarget();
      const key = hub.settings.keys[0]?.bytes.toString('hex') ?? '';
      const options = JSON.stringify({ databaseUrl: hub.settings.databaseUrl, key, queueTimes: FAST });
      const startInstance = async (): Promise<{ child: ChildProcess; port: number }> => {
        const child = fork(INSTANCE, [options], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
        const [{ url }] = (await once(child, 'message')) as [{ url: string }];
        return { child, port: Number(new URL(url).port) };
      };
      const instances = [await startInstance(), await startInstance()];
      const proxy = await startProxy(() => instances.map(({ port }) => port));
      const machines = [await machine(proxy.url, target), await machine(proxy.url, target)] as const;
      let output = '';
      const startAgent = (index: number): ChildProcess => {
        const { folder } = machines[index] as ConfiguredCli;
        const { PATH, TMPDIR } = process.env;
        const environment = { PATH, TMPDIR, HOME: folder.path, TOOL_TRUST: 'true' };
        const child = spawn(process.execPath, [PROGRAM, 'agent', '--json'], { cwd: folder.path, env: environment });
        child.stdout?.on('data', (chunk) => (output += chunk));
        child.stderr?.on('data', (chunk) => (output += chunk));
        return child;
      };
      const agents = [startAgent(0), startAgent(1)];
      onTestFinished(() => {
        for (const child of [...agents, ...instances.map((one) => one.child)]) child.kill('SIGKILL');
        proxy.server.close();
      });
      const kill = async (child: ChildProcess): Promise<void> => {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      };
      let killedInBuild = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = await request(target.name);
        await eventually(async () => (await buildOf(id)).state !== 'queued', { deadline: 150_000 });
        await wait(randomInt(1500));
        if ((await buildOf(id)).state === 'running') killedInBuild += 1;
        const index = randomInt(2);
        if (round % 3 === 2) {
          await kill((instances[index] as { child: ChildProcess }).child);
          instances[index] = await startInstance();
        } else {
          // Both: either of them has the build.
          for (const one of [0, 1]) {
            await kill(agents[one] as ChildProcess);
            agents[one] = startAgent(one);
          }
        }
        await eventually(async () => (await buildOf(id)).state === 'done', { deadline: 200_000 }).catch((error) => {
          throw new Error(`round ${round}: ${error.message}\n${output.slice(-5000)}`);
        });
      }
      expect(killedInBuild).toBeGreaterThan(0);
      const listed = await snapshotsOf(target.name);
      expect(listed.length).toBeGreaterThanOrEqual(ROUNDS);
      expect(listed.map(({ rows }) => rows)).toEqual(listed.map(() => ROWS));
      const reader = await configuredCli(
        `env: development\ndev_api_url: ${hub.url}\nauthtoken: ${hub.ownerToken}\nworking_directory: ./work\n`,
      );
      for (const index of listed.keys()) {
        const { last } = await reader.json(['verify', target.name, String(index), '--remote']);
        expect(last, JSON.stringify(last)).toMatchObject({ ok: true });
      }
    });

    async function startProxy(ports: () => number[]): Promise<{ url: string; server: Server }> {
      let turn = 0;
      const server = createServer((client) => {
        const live = ports();
        turn += 1;
        const upstream = connect(live[turn % live.length] ?? 1, '127.0.0.1');
        client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
        upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
        client.pipe(upstream).pipe(client);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, server };
    }
  });
});
