/**
 * `npm run bench -- hub-load [lists|writes|manifests|all [SECONDS]]`: a hub under 64 clients, and what another caller sees
 * meanwhile (`/healthz`). Lists of 50 targets, PUT of targets and storage profiles with new secrets, and manifests of 20 MB.
 * The hub is a process of its own, and `/healthz` is measured by another thread; they share the machine with the database
 * and the clients.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { migrateQueue } from '../../hub/database/builds/queue.ts';
import { insertSession } from '../../hub/database/callers/tokens.ts';
import { saveUser } from '../../hub/database/callers/users.ts';
import { migrate, openDatabase } from '../../hub/database/database.ts';
import { type Answer, sendTo } from '../helpers/hub/health-probe.ts';
import { largeManifest, profileBody, targetBody } from '../helpers/hub/hub-bodies.ts';
import { startPostgres } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { startS3 } from '../helpers/storage/s3-server.ts';
import { cpuSeconds, printTable } from '../helpers/terminal/measured-run.ts';

const CLIENTS = 64;
const TARGETS = 50;
const SNAPSHOTS = 100;

await measure(process.argv[2] ?? 'all', Number(process.argv[3] ?? 10));

interface Call {
  method: string;
  path: string;
  token: string;
  headers?: Record<string, string>;
  body?: string;
}

async function measure(part: string, seconds: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const postgres = await startPostgres({ max_wal_size: '4GB' });
  const databaseUrl = postgres.url('postgres');
  const { db, [Symbol.asyncDispose]: close } = openDatabase(databaseUrl, { statementTimeout: 600_000 });
  const rows = [['request', 'seconds', 'a second', 'p50 ms', 'p99 ms', 'failed']];
  rows[0]?.push(
    'healthz p50',
    'p99',
    'most',
    'hub CPU ms',
    'database CPU ms',
    'client CPU ms',
    'two cores',
    'load average',
  );
  try {
    await migrate(db);
    await migrateQueue(databaseUrl);
    await using hub = await startHub(databaseUrl);
    const tokens = {
      owner: await people('owner', () => ['owners']),
      member: await people('member', () => ['developers']),
      // Each sees the list by other groups.
      reader: await people('reader', (index) => ['readers', `team-${index}`]),
    };
    const api = `${hub.url}/api/v3`;
    const call = ({ method, path, token, headers, body }: Call) =>
      sendTo(agent, {
        ...{ method, url: `${api}${path}` },
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body }),
      });
    const must = async (given: Call) => {
      const answer = await call(given);
      if (answer.status >= 300) throw new Error(`${given.method} ${given.path}: ${answer.status} ${answer.text}`);
      return answer;
    };
    const owner = (index: number): string => tokens.owner[index % CLIENTS] ?? '';
    const create = { 'if-none-match': '*' };

    const run = async (name: string, work: (client: number, turn: number) => Promise<Answer>, clients = CLIENTS) => {
      // Looks up the callers.
      await Promise.all(Array.from({ length: clients }, (_, client) => work(client, 0)));
      const worker = new Worker(new URL('../helpers/hub/health-probe.ts', import.meta.url), {
        workerData: { url: hub.url },
      });
      await once(worker, 'message');
      const before = await cpuTimes(hub.pid);
      const started = performance.now();
      const done: Answer[] = [];
      await Promise.all(
        Array.from({ length: clients }, async (_, client) => {
          for (let turn = 1; performance.now() - started < seconds * 1000; turn += 1)
            done.push(await work(client, turn));
        }),
      );
      const took = (performance.now() - started) / 1000;
      const answered = once(worker, 'message');
      worker.postMessage('end');
      const [health] = (await answered) as [number[]];
      await worker.terminate();
      const after = await cpuTimes(hub.pid);
      const cpu = after.map((time, index) => ((time - (before[index] ?? 0)) * 1000) / done.length);
      const times = done.map(({ milliseconds }) => milliseconds);
      const failed = done.filter(({ status }) => status >= 400);
      if (failed[0]) console.log(`${failed[0].status}: ${failed[0].text.slice(0, 300)}`);
      rows.push([
        ...[name, took.toFixed(0), (done.length / took).toFixed(1)],
        ...[percentile(times, 50), percentile(times, 99)].map((time) => time.toFixed(1)),
        String(failed.length),
        ...[percentile(health, 50), percentile(health, 99), Math.max(...health)].map((time) => time.toFixed(1)),
        ...cpu.map((time) => time.toFixed(2)),
        // What two cores could do that are not busy with anything else.
        (2000 / cpu.reduce((sum, time) => sum + time, 0)).toFixed(0),
        loadavg()[0]?.toFixed(1) ?? '',
      ]);
    };

    async function lists(): Promise<void> {
      await must({
        ...{ method: 'PUT', path: '/storage_profiles/team', token: owner(0), headers: create },
        body: JSON.stringify(profileBody('first')),
      });
      for (let index = 0; index < TARGETS; index += 1) {
        await must({
          ...{ method: 'PUT', path: `/targets/target-${String(index).padStart(2, '0')}`, token: owner(index) },
          ...{ headers: create, body: JSON.stringify(targetBody(index, 'first')) },
        });
      }
      await fillSnapshots();
      for (const [kind, list] of Object.entries(tokens)) {
        const token = (client: number): string => list[client] ?? '';
        const path = '/targets?limit=50';
        await run(`list, ${kind}`, (client) => call({ method: 'GET', path, token: token(client) }));
        const { etag } = await must({ method: 'GET', path, token: token(0) });
        const headers = { 'if-none-match': etag ?? '' };
        await run(`list, ${kind}, with ETag`, (client) => call({ method: 'GET', path, token: token(client), headers }));
      }
    }

    async function writes(): Promise<void> {
      const revisions = new Map<string, string>();
      const put = (path: string, bodyOf: (text: string) => object) => async (client: number, turn: number) => {
        const name = `${path}-${client}`;
        const known = revisions.get(name);
        const headers = known === undefined ? create : { 'if-match': known };
        const body = JSON.stringify(bodyOf(`${client}-${turn}`));
        const answer = await call({ method: 'PUT', path: name, token: owner(client), headers, body });
        if (answer.etag !== null) revisions.set(name, answer.etag);
        return answer;
      };
      await run(
        'PUT target, new secret',
        put('/targets/written', (text) => targetBody(0, text, {})),
      );
      await run(
        'PUT target, same secret',
        put('/targets/written', () => targetBody(0, 'same', {})),
      );
      await run('PUT profile, new secrets', put('/storage_profiles/written', profileBody));
      await run(
        'PUT profile, same secrets',
        put('/storage_profiles/written', () => profileBody('same')),
      );
    }

    async function manifests(): Promise<void> {
      const s3 = await startS3();
      try {
        await must({
          ...{ method: 'PUT', path: '/storage_profiles/bucket', token: owner(0), headers: create },
          body: JSON.stringify({ settings: await s3.bucket() }),
        });
        const settings = { storage_profile: 'bucket' };
        await must({
          ...{ method: 'PUT', path: '/targets/large', token: owner(0), headers: create },
          body: JSON.stringify({ settings }),
        });
        const manifest = largeManifest();
        await sql`INSERT INTO objects (target_id, profile_id, sha256, stored_sha256, stored_bytes, state)
          SELECT t.id, p.id, o, o, 100, 'stored' FROM targets t, storage_profiles p, unnest(${manifest.sha256s}::text[]) o
          WHERE t.name = 'large' AND p.name = 'bucket'`.execute(db);
        await sql`VACUUM (ANALYZE)`.execute(db);
        const published: string[] = [];
        await run(
          `publish ${(manifest.bytes / 1e6).toFixed(0)} MB`,
          async (client, turn) => {
            const id = randomBytes(4).toString('hex');
            const token = owner(client + 2 * turn);
            const answer = await call({
              method: 'PUT',
              path: `/targets/large/snapshots/${id}`,
              token,
              body: manifest.text(id),
            });
            if (answer.status === 201) published.push(id);
            return answer;
          },
          2,
        );
        const read = (client: number, turn: number) =>
          call({
            ...{ method: 'GET', path: `/targets/large/snapshots/${published[turn % published.length]}` },
            token: owner(client + turn),
          });
        await run('read one of them', read, 8);
        await run(
          'list them',
          (client, turn) => call({ method: 'GET', path: '/targets/large/snapshots', token: owner(client + turn) }),
          8,
        );
      } finally {
        await s3.stop();
      }
    }

    // What the machine does by itself.
    await run('nothing', async () => ({
      status: 200,
      etag: null,
      text: '',
      milliseconds: await wait(100).then(() => 100),
    }));
    const parts: Record<string, () => Promise<void>> = { lists, writes, manifests };
    for (const [name, work] of Object.entries(parts)) if (part === 'all' || part === name) await work();
    printTable(rows);
  } finally {
    agent.destroy();
    await close();
    await postgres.stop();
  }

  /** Seconds of the hub, of the backends of its connections, and of this process. */
  async function cpuTimes(hub: number): Promise<number[]> {
    const { rows: backends } = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
      WHERE application_name = 'tool hub' AND pid <> pg_backend_pid()`.execute(db);
    const database = await Promise.all(backends.map(({ pid }) => cpuSeconds(pid)));
    const { user, system } = process.threadCpuUsage();
    return [await cpuSeconds(hub), database.reduce((sum, time) => sum + time, 0), (user + system) / 1e6];
  }

  async function people(kind: string, groups: (index: number) => string[]): Promise<string[]> {
    const tokens: string[] = [];
    for (let index = 0; index < CLIENTS; index += 1) {
      const name = `${kind}-${index}`;
      const user = await saveUser(db, {
        issuer: 'https://idp.example.com',
        subject: name,
        name,
        groups: groups(index),
      });
      tokens.push((await insertSession(db, { userId: user.id, expiresAt: new Date(Date.now() + 3_600_000) })).token);
    }
    return tokens;
  }

  async function fillSnapshots(): Promise<void> {
    await sql`INSERT INTO snapshots (target_id, profile_id, id, created_at, sanitized, headline, manifest_key, manifest_sha256)
      SELECT t.id, t.original_profile_id, lpad(to_hex(s * 1000 + t.n), 8, '0'), now() - make_interval(hours => s::int),
        s % 4 <> 0, '{}', t.name || '/' || s, md5(t.name) || md5(t.name)
      FROM (SELECT *, row_number() OVER (ORDER BY name) AS n FROM targets) t, generate_series(1, ${SNAPSHOTS}) s`.execute(
      db,
    );
    await sql`VACUUM (ANALYZE)`.execute(db);
  }
}

async function startHub(databaseUrl: string) {
  const tool = process.env.TOOL_BENCH_PROGRAM ?? new URL('../../dist/tool.js', import.meta.url).pathname;
  const listen = `127.0.0.1:${await freePort()}`;
  const profiled = process.env.TOOL_BENCH_PROFILE;
  const child = spawn(
    process.execPath,
    [...(profiled ? ['--cpu-prof', `--cpu-prof-dir=${profiled}`] : []), tool, 'hub', 'serve'],
    {
      env: {
        ...{
          PATH: process.env.PATH,
          HOME: '/nonexistent',
          TOOL_HUB_DATABASE_URL: databaseUrl,
          TOOL_HUB_LISTEN: listen,
        },
        ...{ TOOL_HUB_KEYS: randomBytes(32).toString('hex'), TOOL_HUB_PUBLIC_URL: 'https://hub.example.com' },
        ...{ TOOL_HUB_PROVIDER_URL: 'https://idp.example.com', TOOL_HUB_CLIENT_ID: 'tool' },
        ...{ TOOL_HUB_OWNER_GROUPS: 'owners', TOOL_HUB_MEMBER_GROUPS: 'developers' },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await once(child.stdout, 'data');
  // As a log collector does.
  child.stdout.resume();
  return {
    url: `http://${listen}`,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill(profiled ? 'SIGTERM' : 'SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

function percentile(times: number[], part: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * part) / 100))] ?? 0;
}
