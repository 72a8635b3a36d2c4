/**
 * `npm run bench -- hub [TARGETS [SECONDS]]`: lists of a hub with 10,000 targets, a million snapshots and twenty million
 * links in its database, at 300 requests a second and as fast as they go, with the memory of the hub. Client, hub and
 * database share the machine; callers and limits are those of production.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { insertSession } from '../../hub/database/callers/tokens.ts';
import { saveUser } from '../../hub/database/callers/users.ts';
import { migrate, openDatabase } from '../../hub/database/database.ts';
import { startPostgres } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const TARGETS = Number(process.argv[2] ?? 10_000);
const SECONDS = Number(process.argv[3] ?? 20);
const SNAPSHOTS = 100;
const OBJECTS = 200;
const LINKS = 20;
/** People of each kind: a token may send 50 requests a second. */
const PEOPLE = 60;
const RATE = 300;
const AT_ONCE = 8;

const tool = new URL('../../dist/tool.js', import.meta.url).pathname;
const postgres = await startPostgres({ maintenance_work_mem: '512MB', max_wal_size: '8GB' });
const databaseUrl = postgres.url('postgres');
const { db, [Symbol.asyncDispose]: close } = openDatabase(databaseUrl, { statementTimeout: 3_600_000 });
let hubStarted = new Date(0);
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE * 4 });

try {
  const started = performance.now();
  await migrate(db);
  await fill();
  console.log(`${TARGETS} targets, ${TARGETS * SNAPSHOTS} snapshots, ${TARGETS * SNAPSHOTS * LINKS} links`);
  console.log(`generated in ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  const tokens = {
    owner: await people('owner', () => ['owners']),
    member: await people('member', () => ['developers']),
    reader: await people('reader', (index) => [`team-${index}`]),
  };
  await sql`VACUUM (ANALYZE)`.execute(db);
  // Connections that filled the database are not those of the hub.
  hubStarted = new Date();
  await using hub = await startHub();
  const target = (index: number): string => `target-${String((index * 7919) % TARGETS).padStart(5, '0')}`;
  const cursors = await firstCursors(hub.url, tokens.owner);
  const requests: Record<string, [token: string[], path: (index: number) => string]> = {
    'targets, owner': [tokens.owner, () => '/targets?limit=50'],
    'targets, owner, any page': [
      tokens.owner,
      (index) => `/targets?limit=50&cursor=${cursors[index % cursors.length]}`,
    ],
    'targets, owner, by name': [tokens.owner, (index) => `/targets?limit=50&q=${String(index % 100).padStart(3, '0')}`],
    'targets, member': [tokens.member, () => '/targets?limit=50'],
    'targets, reader': [tokens.reader, () => '/targets?limit=50'],
    'snapshots, owner': [tokens.owner, (index) => `/targets/${target(index)}/snapshots?limit=50`],
    'a target, owner': [tokens.owner, (index) => `/targets/${target(index)}`],
  };
  const rows = [
    [
      'request',
      'rate',
      'p50 ms',
      'p95 ms',
      'p99 ms',
      'most a second',
      'hub CPU ms',
      'database CPU ms',
      'failed',
      'load average',
    ],
  ];
  for (const [name, [callers, path]] of Object.entries(requests)) {
    const call = (index: number) => timed(`${hub.url}/api/v3${path(index)}`, callers[index % callers.length] ?? '');
    // The first requests look up the callers.
    await atOnce(call, 2);
    const before = await cpuTimes(hub.pid);
    const steady = await atRate(call);
    const after = await cpuTimes(hub.pid);
    const cpu = after.map((milliseconds, part) =>
      ((milliseconds - (before[part] ?? 0)) / steady.times.length).toFixed(2),
    );
    const most = await atOnce(call, SECONDS / 4);
    const load = loadavg()[0]?.toFixed(1) ?? '';
    const figures = [50, 95, 99].map((part) => percentile(steady.times, part).toFixed(1));
    const rate = String(Math.round(steady.times.length / steady.seconds));
    rows.push([
      name,
      rate,
      ...figures,
      String(Math.round(most.times.length / most.seconds)),
      ...cpu,
      String(steady.failed + most.failed),
      load,
    ]);
  }
  printTable(rows);
  console.log(`memory of the hub: ${await hub.megabytes()} MB (to reach: 200)`);
  console.log('to reach: 300 requests a second with p95 below 20 ms');
} finally {
  agent.destroy();
  await close();
  await postgres.stop();
}

/** Foreign keys and indexes come last: a row each time would take an hour. */
async function fill(): Promise<void> {
  await db.connection().execute(async (connection) => {
    const run = (text: string) => sql.raw(text).execute(connection);
    await run('SET session_replication_role = replica');
    await run('SET synchronous_commit = off');
    const profile = `(SELECT id FROM storage_profiles)`;
    await run(`INSERT INTO storage_profiles (name, settings) VALUES ('team', '{"provider":"s3","bucket":"b"}')`);
    await run(`INSERT INTO targets (name, settings, original_profile_id, sanitized_profile_id, reader_groups,
        original_groups, builder_groups)
      SELECT 'target-' || lpad(i::text, 5, '0'),
        jsonb_build_object('storage_profile', 'team', 'snapshot', jsonb_build_object('src_url', 'postgres://db/app' || i)),
        ${profile}, ${profile}, ARRAY['team-' || i % 100], ARRAY['dba'], ARRAY[CASE WHEN i % 2 = 0 THEN 'developers' ELSE 'platform' END]
      FROM generate_series(0, ${TARGETS - 1}) i`);
    await run(`CREATE TEMP TABLE numbered AS SELECT id, name, row_number() OVER (ORDER BY name) - 1 AS n FROM targets`);
    await run(`INSERT INTO objects (target_id, profile_id, sha256, stored_sha256, stored_bytes, state, touched_at)
      SELECT t.id, ${profile}, md5(t.n || '/' || o) || md5(o || '/' || t.n), md5(t.n || ' ' || o) || md5(o || ' ' || t.n),
        100000, 'stored', now() - interval '2 days'
      FROM numbered t, generate_series(1, ${OBJECTS}) o ORDER BY t.n, o`);
    await run(`INSERT INTO snapshots (target_id, profile_id, id, created_at, sanitized, headline, manifest_key, manifest_sha256)
      SELECT t.id, ${profile}, x.id, x.at, s % 4 <> 0,
        jsonb_build_object('target', t.name, 'id', x.id, 'created_at', to_char(x.at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'sanitized', s % 4 <> 0, 'engine', 'postgres', 'server_version', '15.18', 'schemas', '["public"]'::jsonb,
          'tables', 40, 'rows', 1000000, 'size_bytes', 500000000, 'stored_bytes', 90000000, 'note', null),
        'snapshots/' || t.name || '/' || x.id || '.json', md5(x.id) || md5(x.id)
      FROM generate_series(1, ${SNAPSHOTS}) s, numbered t,
        LATERAL (SELECT lpad(to_hex(s * 100000 + t.n), 8, '0') AS id,
          timestamptz '2026-01-01' + make_interval(days => s::int, secs => t.n::int) AS at) x ORDER BY s, t.n`);
    await run('ALTER TABLE snapshot_objects DROP CONSTRAINT snapshot_objects_pkey');
    await run('DROP INDEX snapshot_objects_by_object');
    await run(`INSERT INTO snapshot_objects (snapshot_pk, object_id)
      SELECT s.pk, ((s.pk - 1) % ${TARGETS}) * ${OBJECTS} + (s.pk / ${TARGETS} + k) % ${OBJECTS} + 1
      FROM snapshots s, generate_series(1, ${LINKS}) k`);
    await run('ALTER TABLE snapshot_objects ADD PRIMARY KEY (snapshot_pk, object_id)');
    await run('CREATE INDEX snapshot_objects_by_object ON snapshot_objects (object_id)');
  });
}

async function people(kind: string, groups: (index: number) => string[]): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const name = `${kind}-${index}`;
    const user = await saveUser(db, { issuer: 'https://idp.example.com', subject: name, name, groups: groups(index) });
    const { token } = await insertSession(db, { userId: user.id, expiresAt: new Date(Date.now() + 3_600_000) });
    tokens.push(token);
  }
  return tokens;
}

async function startHub() {
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [tool, 'hub', 'serve'], {
    env: {
      ...{ PATH: process.env.PATH, HOME: '/nonexistent', TOOL_HUB_DATABASE_URL: databaseUrl, TOOL_HUB_LISTEN: listen },
      ...{ TOOL_HUB_KEYS: randomBytes(32).toString('hex'), TOOL_HUB_PUBLIC_URL: 'https://hub.example.com' },
      ...{ TOOL_HUB_PROVIDER_URL: 'https://idp.example.com', TOOL_HUB_CLIENT_ID: 'tool' },
      ...{ TOOL_HUB_OWNER_GROUPS: 'owners', TOOL_HUB_MEMBER_GROUPS: 'developers' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  // As a log collector does.
  child.stdout.resume();
  const status = async (): Promise<string> => readFile(`/proc/${child.pid}/status`, 'utf8');
  return {
    url: `http://${listen}`,
    pid: child.pid ?? 0,
    megabytes: async () => Math.round(Number(/VmHWM:\s+(\d+)/.exec(await status())?.[1] ?? 0) / 1024),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** Milliseconds that the hub and the backends of its connections have computed: machines that are busy differ in all else. */
async function cpuTimes(hub: number): Promise<[hub: number, database: number]> {
  const [{ pids }] = (
    await sql<{ pids: number[] }>`SELECT array_agg(pid) AS pids FROM pg_stat_activity
      WHERE application_name = 'tool hub' AND pid <> pg_backend_pid() AND backend_start > ${hubStarted}`.execute(db)
  ).rows as [{ pids: number[] }];
  const timeOf = async (pid: number): Promise<number> => {
    const [user = 0, system = 0] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ').slice(13, 15).map(Number);
    return (user + system) * 10;
  };
  const database = await Promise.all(pids.map(timeOf));
  return [await timeOf(hub), database.reduce((sum, milliseconds) => sum + milliseconds, 0)];
}

/** Cursors of pages in every part of the list. */
async function firstCursors(url: string, [token = '']: string[]): Promise<string[]> {
  const names = Array.from(
    { length: 50 },
    (_, index) => `target-${String(Math.floor((index * TARGETS) / 50)).padStart(5, '0')}`,
  );
  const cursors = names.map((name) => Buffer.from(JSON.stringify([name])).toString('base64url'));
  const { status } = await timed(`${url}/api/v3/targets?limit=50&cursor=${cursors[1]}`, token);
  if (status !== 200) throw new Error(`a cursor is answered with ${status}`);
  return cursors;
}

interface Timed {
  status: number;
  milliseconds: number;
}

function timed(url: string, token: string): Promise<Timed> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, milliseconds: performance.now() - started }),
      );
    }).on('error', reject);
  });
}

interface Sample {
  times: number[];
  failed: number;
  seconds: number;
}

type Call = (index: number) => Promise<Timed>;

/** Requests begin at their time, whether others are answered or not: a hub that is too slow shows in the times. */
async function atRate(call: Call): Promise<Sample> {
  const started = performance.now();
  const sent: Promise<Timed>[] = [];
  for (let index = 0; index < RATE * SECONDS; index += 1) {
    const early = started + (index * 1000) / RATE - performance.now();
    if (early > 1) await wait(early);
    sent.push(call(index));
  }
  return sampleOf(await Promise.all(sent), started);
}

async function atOnce(call: Call, seconds: number): Promise<Sample> {
  const started = performance.now();
  const done: Timed[] = [];
  let index = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - started < seconds * 1000) {
      index += 1;
      done.push(await call(index));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return sampleOf(done, started);
}

function sampleOf(done: Timed[], started: number): Sample {
  const times = done.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const failed = done.filter(({ status }) => status !== 200).length;
  return { times, failed, seconds: (performance.now() - started) / 1000 };
}

function percentile(times: number[], part: number): number {
  return times[Math.min(times.length - 1, Math.floor((times.length * part) / 100))] ?? 0;
}
