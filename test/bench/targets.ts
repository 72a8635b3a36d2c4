/** `npm run bench -- targets`: 1,000 targets on five servers, one of them down and one slow; on Linux. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import type { Settings } from '../../src/config/schema/settings.ts';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { assertNotASource } from '../../src/operations/load/guard/guard.ts';
import { checkTargets, listTargets } from '../../src/operations/targets/targets.ts';
import type { TargetRow } from '../../src/results/results.ts';
import type { Context } from '../../src/runtime/context.ts';
import { startPostgres, testContext } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';

const TARGETS_PER_SERVER = 200;
const DATABASES = 20;
/** What the slow server takes for every answer. */
const SLOW_MS = 100;
const KEYS = 60;
const KEY_EVERY_MS = 40;

const tool = fileURLToPath(new URL('../../dist/tool.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tool-targets-'));
const working_directory = join(folder, 'work');
mkdirSync(working_directory);
const server = await startPostgres();
const entries: Entry[] = [];

/** A way to the server that counts connections. */
interface Entry {
  port: number;
  most: number;
  stop(): void;
}

interface Expected {
  url: string;
  status: TargetRow['status'];
}

try {
  for (let index = 0; index < DATABASES; index++) await server.createDatabase(`shop_${index}`);
  await server.psql('postgres', {
    sql: "CREATE ROLE app LOGIN PASSWORD 'p'; REVOKE CONNECT ON DATABASE shop_1 FROM PUBLIC",
  });
  entries.push(await listen(0), await listen(0), await listen(0), await listen(SLOW_MS));
  const ports = [...entries.map(({ port }) => ({ port, down: false })), { port: await freePort(), down: true }];
  const expected = new Map(ports.flatMap(targetsOf));
  await measureChecks(expected);
  await measureGuard(expected);
  await measureScreens(expected);
} finally {
  for (const entry of entries) entry.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
}

function targetsOf({ port, down }: { port: number; down: boolean }, place: number): [string, Expected][] {
  return Array.from({ length: TARGETS_PER_SERVER }, (_, index): [string, Expected] => {
    const number = index % (DATABASES + 1);
    const status = down ? 'unreachable' : number === DATABASES ? 'missing' : number === 1 ? 'denied' : 'ok';
    const url = `postgres://app:p@127.0.0.1:${port}/shop_${number}`;
    return [`t${String(place * TARGETS_PER_SERVER + index).padStart(4, '0')}`, { url, status }];
  });
}

function contextOf(expected: Map<string, Expected>): Context {
  const targets = Object.fromEntries([...expected].map(([name, { url }]) => [name, { snapshot: { src_url: url } }]));
  return testContext({ settings: { targets: targets as Settings['targets'], working_directory } });
}

async function measureChecks(expected: Map<string, Expected>): Promise<void> {
  const rows = new Map<string, TargetRow>();
  let first = Number.NaN;
  const started = performance.now();
  const context = contextOf(expected);
  await checkTargets(context, {
    rows: await listTargets(context),
    take(row) {
      if (rows.size === 0) first = performance.now() - started;
      rows.set(row.name, row);
    },
  });
  const all = performance.now() - started;
  const wrong = [...expected].filter(([name, { status }]) => rows.get(name)?.status !== status);
  show('wrong statuses of 1,000 targets', wrong.length, { unit: '', reach: 0 });
  show('connections per server, at most', Math.max(...entries.map(({ most }) => most)), { unit: '', reach: 4 });
  show('first status', first, { unit: 'ms', reach: 500 });
  show('all statuses and sizes', all, { unit: 'ms', reach: 3000 });
}

async function measureGuard(expected: Map<string, Expected>): Promise<void> {
  const destination = parsePostgresUrl(server.url('postgres'));
  const time = async (targets: Map<string, Expected>): Promise<number> => {
    const started = performance.now();
    await assertNotASource(contextOf(targets), destination).catch(() => {});
    return performance.now() - started;
  };
  // What is down can never have been identified.
  const identified = new Map([...expected].filter(([, { status }]) => status === 'ok'));
  await time(identified);
  const alone = await time(new Map());
  const times = [];
  for (let round = 0; round < 5; round++) times.push((await time(identified)) - alone);
  show('the guard among identified targets', median(times), { unit: 'ms', reach: 200 });
  show('the guard, 200 of 1,000 never identified', (await time(expected)) - alone, { unit: 'ms', reach: 200 });
}

async function measureScreens(expected: Map<string, Expected>): Promise<void> {
  const lines = [...expected].flatMap(([name, { url }]) => [`  ${name}:`, '    snapshot:', `      src_url: ${url}`]);
  writeFileSync(
    join(folder, 'tool.yml'),
    [
      `working_directory: ${working_directory}`,
      'secret_key: 0123456789abcdef0123456789abcdef',
      'targets:',
      ...lines,
      '',
    ].join('\n'),
    { mode: 0o600 },
  );
  const { CI: _ci, NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
  const env = {
    ...inherited,
    HOME: folder,
    TOOL_TRUST: 'true',
    XDG_CACHE_HOME: folder,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
  };
  const child = spawn(process.execPath, [tool], { cols: 120, rows: 40, env, cwd: folder });
  let output = '';
  child.onData((data) => {
    output += data;
  });
  const ended = Promise.withResolvers<void>();
  child.onExit(() => ended.resolve());
  try {
    await within(() => stripVTControlCharacters(output).includes('t0000'));
    await pause(2000);
    for (const [name, key] of [
      ['a key while nothing is checked', null],
      ['a key while 1,000 targets are checked', 'r'],
    ] as const) {
      if (key) child.write(key);
      const times: number[] = [];
      for (let index = 0; index < KEYS; index++) {
        const before = output.length;
        const pressed = performance.now();
        child.write(index % 20 < 10 ? 'j' : 'k');
        await within(() => /[❯>›▸] ?t\d{4}/.test(stripVTControlCharacters(output.slice(before))));
        times.push(performance.now() - pressed);
        await pause(Math.max(0, KEY_EVERY_MS - (performance.now() - pressed)));
      }
      times.sort((a, b) => a - b);
      const limits = key ? { p95: { reach: 16 }, worst: { reach: 50 } } : { p95: {}, worst: {} };
      show(`${name}, p95`, times[Math.floor(KEYS * 0.95)] ?? Number.NaN, { unit: 'ms', ...limits.p95 });
      show(`${name}, worst`, times.at(-1) ?? Number.NaN, { unit: 'ms', ...limits.worst });
    }
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
    show('memory of the screens, at most', kilobytes / 1024, { unit: 'MB', reach: 120 });
  } finally {
    child.kill('SIGKILL');
    await ended.promise;
  }
}

/** Looks every millisecond: the terminal's data comes in between. */
async function within(look: () => boolean, deadline = 20_000): Promise<void> {
  const end = performance.now() + deadline;
  while (!look()) {
    if (performance.now() > end) throw new Error('it did not come about in time');
    await pause(1);
  }
}

async function listen(delayMs: number): Promise<Entry> {
  const open = new Set<Socket>();
  const listener: Server = createServer((near) => {
    const far = connect(server.port, '127.0.0.1');
    open.add(near);
    entry.most = Math.max(entry.most, open.size);
    near.on('close', () => {
      open.delete(near);
      far.destroy();
    });
    for (const socket of [near, far]) socket.on('error', () => {}).setNoDelay(true);
    near.pipe(far);
    far.on('data', (data) => setTimeout(() => near.write(data), delayMs));
    far.on('end', () => setTimeout(() => near.end(), delayMs));
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const stop = (): void => {
    listener.close();
    for (const socket of open) socket.destroy();
  };
  const entry: Entry = { port: (listener.address() as AddressInfo).port, most: 0, stop };
  return entry;
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

function show(name: string, value: number, { unit, reach }: { unit: string; reach?: number }): void {
  const verdict = reach === undefined ? '' : `  to reach: ≤ ${reach}${value <= reach ? '' : '  MISSED'}`;
  console.log(`${name.padEnd(44)}${value.toFixed(1)} ${unit}${verdict}`);
  if (reach !== undefined && value > reach) process.exitCode = 1;
}
