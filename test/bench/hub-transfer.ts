/**
 * `npm run bench -- hub-transfer [MEGABYTES [ROUNDS]]`: pushes and pulls through a hub against those straight to the
 * bucket, in turns, and a warm `tool targets` with 500 cloud targets; medians.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FRAME_BYTES } from '../../src/repository/objects/object-format.ts';
import { putStorageProfile, putTarget, startHub } from '../helpers/hub/hub.ts';
import { type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { storeTables } from '../helpers/storage/stored-snapshot.ts';
import { type Measured, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const megabytes = Number(process.argv[2] ?? 500);
const ROUNDS = Number(process.argv[3] ?? 3);
const TABLES = 40;
const TARGETS = 500;
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));

/** Settings of a configuration over a new, empty bucket. */
interface Way {
  name: string;
  settings: (server: S3Server) => Promise<{ settings: object; stop: () => Promise<void> }>;
}

const ways: Way[] = [
  {
    name: 'bucket',
    settings: async (server) => ({
      settings: {
        storage_profiles: { team: await server.bucket() },
        targets: { app: { storage_profile: 'team', snapshot: {} } },
      },
      stop: async () => {},
    }),
  },
  {
    name: 'hub',
    async settings(server) {
      const hub = await startHub();
      await putStorageProfile(hub, 'team', await server.bucket());
      await putTarget(hub, 'app', { settings: { storage_profile: 'team' } });
      return { settings: { env: 'development', dev_api_url: hub.url, authtoken: hub.ownerToken }, stop: hub.stop };
    },
  },
];

try {
  console.log(`Storing a snapshot of ${megabytes} MB in ${TABLES} objects, the largest a fifth of it`);
  const here = join(folder, 'here');
  await storeSnapshot(here);
  const measured = new Map(ways.map(({ name }) => [name, { up: [] as Measured[], down: [] as Measured[] }]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
      const { up, down } = await measureWay(way, here);
      console.log(`${way.name}: ${up.seconds.toFixed(2)} s up, ${down.seconds.toFixed(2)} s down`);
      measured.get(way.name)?.up.push(up);
      measured.get(way.name)?.down.push(down);
    }
  }
  for (const direction of ['up', 'down'] as const) {
    const [straight, through] = ways.map(({ name }) => median(measured.get(name)?.[direction] ?? []));
    const ratio = (through ?? Number.NaN) / (straight ?? Number.NaN);
    if (ratio > 1.05) process.exitCode = 1;
    printTable([
      [direction, 'bucket', 'hub', 'ratio', 'to reach'],
      ['seconds', straight?.toFixed(2) ?? '', through?.toFixed(2) ?? '', ratio.toFixed(2), '1.05'],
    ]);
  }
  await measureTargets();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureWay({ settings: open }: Way, here: string): Promise<{ up: Measured; down: Measured }> {
  const server = await startS3();
  const { settings, stop } = await open(server);
  const there = join(folder, 'there');
  const run = async (command: string, directory: string): Promise<Measured> =>
    measuredRun(process.execPath, [tool, '--config', await configure(directory, settings), '--json', command, 'app']);
  try {
    await mkdir(there);
    const up = await run('push', here);
    return { up, down: await run('pull', there) };
  } finally {
    await rm(there, { recursive: true, force: true });
    await rm(join(here, 'cache'), { recursive: true, force: true });
    await stop();
    await server.stop();
  }
}

/** The list of a member, when nothing has changed since the last one. */
async function measureTargets(): Promise<void> {
  const hub = await startHub();
  try {
    const settings = (index: number) => ({ snapshot: { src_url: `postgres://app@db${index}.example.com/app` } });
    for (let index = 0; index < TARGETS; index += 1) {
      await putTarget(hub, `target-${String(index).padStart(4, '0')}`, { settings: settings(index) });
    }
    const { token } = await hub.person('mona', ['developers']);
    const config = await configure(folder, { env: 'development', dev_api_url: hub.url, authtoken: token });
    const list = () => measuredRun(process.execPath, [tool, '--config', config, 'targets']);
    await list();
    await list();
    const runs: Measured[] = [];
    for (let round = 0; round < 11; round += 1) runs.push(await list());
    const bare: Measured[] = [];
    for (let round = 0; round < 11; round += 1) bare.push(await measuredRun(process.execPath, [tool, '--version']));
    const milliseconds = median(runs) * 1000;
    if (milliseconds > 300) process.exitCode = 1;
    printTable([
      [`tool targets, ${TARGETS} cloud targets`, 'ms', 'to reach', 'tool --version'],
      ['warm', milliseconds.toFixed(0), '300', (median(bare) * 1000).toFixed(0)],
    ]);
  } finally {
    await hub.stop();
  }
}

/** Each frame of an object is compressed by itself, so that one that cannot be is enough for all of an object. */
async function storeSnapshot(directory: string): Promise<void> {
  const frames = (count: number): Uint8Array[] => Array(count).fill(randomBytes(FRAME_BYTES));
  const all = (megabytes * 1_000_000) / FRAME_BYTES;
  const counts = [0.2 * all, ...Array(TABLES - 1).fill((0.8 * all) / (TABLES - 1))].map(Math.round);
  await storeTables(directory, {
    ...{ target: 'app', id: 'aaaa0000', created_at: new Date().toISOString() },
    contents: Object.fromEntries(counts.map((count, table) => [`t${table}`, frames(count)])),
  });
}

async function configure(directory: string, settings: object): Promise<string> {
  const config = join(directory, 'tool.yml');
  const all = { secret_key: 'ab'.repeat(16), working_directory: directory, ...settings };
  await writeFile(config, JSON.stringify(all), { mode: 0o600 });
  return config;
}

function median(measured: Measured[]): number {
  return measured.map((one) => one.seconds).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN;
}
