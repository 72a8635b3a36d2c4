/**
 * `npm run bench -- storage [MEGABYTES [ROUNDS]]`: pushes and pulls against `rclone copy --transfers 4` and `s3cmd` of the same
 * objects, on a real S3 service on this machine, all of them in turns; medians. Figures are ratios: machines differ.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FRAME_BYTES } from '../../src/repository/objects/object-format.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { startS3 } from '../helpers/storage/s3-server.ts';
import { storeTables } from '../helpers/storage/stored-snapshot.ts';
import { type Measured, measuredRun, printTable } from '../helpers/terminal/measured-run.ts';

const ROUNDS = Number(process.argv[3] ?? 3);
const TABLES = 40;
const COMPARED = ['rclone', 's3cmd'];
const TO_REACH = ['to reach', '', '', '1.15', '200'];
const megabytes = Number(process.argv[2] ?? 1000);
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));

type Direction = 'up' | 'down';

/** Copies everything below a folder's `objects/` to an empty bucket, or back into an empty folder. */
interface Client {
  name: string;
  copy(direction: Direction, directory: string, bucket: BucketProfile): Promise<Measured>;
}

const clients: Client[] = [
  {
    name: 'tool',
    async copy(direction, directory, bucket) {
      const command = direction === 'up' ? 'push' : 'pull';
      const config = await configure(directory, bucket);
      return measuredRun(process.execPath, [tool, '--config', config, '--json', command, 'app']);
    },
  },
  {
    name: 'rclone',
    copy: (...copying) => measuredRun('rclone', rclone(...copying)),
  },
  {
    // As a pull leaves it, and rclone does not: on the disk.
    name: 'rclone and sync',
    copy(direction, directory, bucket) {
      const synced = direction === 'up' ? 'true' : `sync --file-system '${directory}'`;
      return measuredRun('sh', ['-c', `rclone "$@" && ${synced}`, 'sh', ...rclone(direction, directory, bucket)]);
    },
  },
  {
    name: 's3cmd',
    async copy(direction, directory, { bucket, endpoint = '', access_key, secret_key }) {
      const { host } = new URL(endpoint);
      const keys = ['--config=/dev/null', `--access_key=${access_key}`, `--secret_key=${secret_key}`];
      // A bucket's host without the bucket in it asks in path style.
      const service = ['--no-ssl', `--host=${host}`, `--host-bucket=${host}`];
      const here = `${join(directory, 'objects')}/`;
      await mkdir(here, { recursive: true });
      const there = `s3://${bucket}/objects/`;
      const places = direction === 'up' ? [here, there] : [there, here];
      return measuredRun('s3cmd', [...keys, ...service, '--no-progress', '--quiet', 'sync', ...places]);
    },
  },
];

// Settings of storage clients that this machine may have.
for (const name of Object.keys(process.env)) if (/^(AWS|RCLONE|S3CMD)_/.test(name)) delete process.env[name];

try {
  console.log(`Storing a snapshot of ${megabytes} MB in ${TABLES} objects, the largest a fifth of it`);
  const here = join(folder, 'here');
  const stored = await storeSnapshot(here);
  const measured: Times = new Map(clients.map(({ name }) => [name, { up: [], down: [] }]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const client of inTurns(round)) await measureClient(client, { here, measured });
  }
  for (const direction of ['up', 'down'] as const) {
    const fastest = Math.min(...COMPARED.map((name) => median(measured.get(name)?.[direction] ?? [])));
    const rows = [...measured].map(([name, times]) => figures(name, times[direction], { stored, fastest }));
    printTable([[direction, 'seconds', 'MB/s', 'of the faster', 'MB of memory'], ...rows, TO_REACH]);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

function rclone(direction: Direction, directory: string, profile: BucketProfile): string[] {
  const { bucket, endpoint, access_key, secret_key } = profile;
  const remote = `:s3,provider=Ceph,endpoint='${endpoint}',access_key_id=${access_key},secret_access_key=${secret_key}`;
  const places = [join(directory, 'objects'), `${remote}:${bucket}/objects`];
  if (direction === 'down') places.reverse();
  return ['copy', '--config', '/dev/null', '--transfers', '4', ...places];
}

type Times = Map<string, Record<Direction, Measured[]>>;

/** Whoever comes first finds a cold disk. */
function inTurns(round: number): Client[] {
  const first = round % clients.length;
  return [...clients.slice(first), ...clients.slice(0, first)];
}

/** A service of its own: what others have left in its memory would slow it down. */
async function measureClient(client: Client, { here, measured }: { here: string; measured: Times }): Promise<void> {
  const server = await startS3();
  const there = join(folder, 'there');
  try {
    const bucket = await server.bucket();
    await mkdir(there);
    const [up, down] = [await client.copy('up', here, bucket), await client.copy('down', there, bucket)];
    console.log(`${client.name}: ${up.seconds.toFixed(2)} s up, ${down.seconds.toFixed(2)} s down`);
    measured.get(client.name)?.up.push(up);
    measured.get(client.name)?.down.push(down);
  } finally {
    await rm(there, { recursive: true, force: true });
    await server.stop();
  }
}

/** Each frame of an object is compressed by itself, so that one that cannot be is enough for all of an object. */
async function storeSnapshot(directory: string): Promise<number> {
  const frames = (count: number): Uint8Array[] => Array(count).fill(randomBytes(FRAME_BYTES));
  const all = (megabytes * 1_000_000) / FRAME_BYTES;
  const counts = [0.2 * all, ...Array(TABLES - 1).fill((0.8 * all) / (TABLES - 1))].map(Math.round);
  const manifest = await storeTables(directory, {
    ...{ target: 'app', id: 'aaaa0000', created_at: new Date().toISOString() },
    contents: Object.fromEntries(counts.map((count, table) => [`t${table}`, frames(count)])),
  });
  return manifest.added_bytes;
}

async function configure(directory: string, profile: BucketProfile): Promise<string> {
  const config = join(directory, 'tool.yml');
  const settings = {
    secret_key: 'ab'.repeat(16),
    working_directory: directory,
    storage_profiles: { team: profile },
    targets: { app: { storage_profile: 'team', snapshot: {} } },
  };
  await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
  return config;
}

function median(measured: Measured[]): number {
  return measured.map((one) => one.seconds).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN;
}

function figures(name: string, measured: Measured[], { stored, fastest }: { stored: number; fastest: number }) {
  const seconds = median(measured);
  const most = Math.max(...measured.map((one) => one.megabytes));
  return [name, seconds.toFixed(2), (stored / 1e6 / seconds).toFixed(0), (seconds / fastest).toFixed(2), String(most)];
}
