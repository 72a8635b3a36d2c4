/**
 * `npm run bench -- storage [MEGABYTES]`: pushes and pulls against `rclone copy --transfers 4` of the same objects, on a
 * real S3 service on this machine, both sides in turns; medians of three. Figures are ratios: machines differ.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startS3 } from '../helpers/s3-server.ts';
import { storeTables } from '../helpers/stored-snapshot.ts';

const ROUNDS = 3;
const TABLES = 40;
const megabytes = Number(process.argv[2] ?? 1000);
const tool = new URL('../../dist/tool.js', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'tool-bench-'));
const server = await startS3();

/** Without the settings of storage clients that this machine may have. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(AWS|RCLONE)_/.test(name)));

interface Measured {
  seconds: number;
  /** The most memory that the process held. */
  megabytes: number;
}

try {
  console.log(`Storing a snapshot of ${megabytes} MB in ${TABLES} tables, the largest a fifth of it`);
  const here = join(folder, 'here');
  const stored = await storeSnapshot(here);
  await measure(here, stored);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(here: string, stored: number): Promise<void> {
  const measured: Record<'pushes' | 'pulls' | 'up' | 'down', Measured[]> = { pushes: [], pulls: [], up: [], down: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = await server.bucket();
    const remote = `:s3,provider=Ceph,endpoint='${server.endpoint}',access_key_id=${theirs.access_key},secret_access_key=${theirs.secret_key}`;
    const rclone = (from: string, to: string) =>
      run('rclone', ['copy', '--config', '/dev/null', '--transfers', '4', from, to]);
    measured.up.push(await rclone(join(here, 'objects'), `${remote}:${theirs.bucket}/objects`));
    const profile = await server.bucket();
    measured.pushes.push(await runTool(await configure(here, profile), 'push'));
    const copy = join(folder, `copy-${round}`);
    measured.down.push(await rclone(`${remote}:${theirs.bucket}/objects`, copy));
    const there = join(folder, `there-${round}`);
    await mkdir(there);
    measured.pulls.push(await runTool(await configure(there, profile), 'pull'));
    await rm(copy, { recursive: true });
    await rm(there, { recursive: true });
  }
  table([
    ['', 'seconds', 'MB/s', 'of rclone', 'MB of memory'],
    ['rclone copy, up', ...figures(measured.up, stored), '1', memory(measured.up)],
    ['tool push', ...figures(measured.pushes, stored), ratio(measured.pushes, measured.up), memory(measured.pushes)],
    ['rclone copy, down', ...figures(measured.down, stored), '1', memory(measured.down)],
    ['tool pull', ...figures(measured.pulls, stored), ratio(measured.pulls, measured.down), memory(measured.pulls)],
    ['to reach', '', '', '1.15', '200'],
  ]);
}

/** Text that compresses to about a third, as tables do. */
async function storeSnapshot(directory: string): Promise<number> {
  const share = (megabytes * 1_000_000 * 0.8) / (TABLES - 1);
  let added = 0;
  const contents: Record<string, Uint8Array> = {};
  for (let table = 0; table < TABLES; table += 1) {
    contents[`t${table}`] = rows(table === 0 ? megabytes * 200_000 : share);
  }
  const manifest = await storeTables(directory, {
    ...{ target: 'app', id: 'aaaa0000', created_at: new Date().toISOString(), contents },
  });
  added += manifest.added_bytes;
  return added;
}

function rows(bytes: number): Uint8Array {
  const lines: string[] = [];
  for (let length = 0, id = 1; length < bytes; id += 1) {
    const line = `${id}\tcustomer ${id % 997}\t2026-01-01 00:00:00+00\t${randomBytes(12).toString('hex')}\tactive\t\\N\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join(''));
}

async function configure(directory: string, profile: object): Promise<string> {
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

function runTool(config: string, command: string): Promise<Measured> {
  return run(process.execPath, [tool, '--config', config, '--json', command, 'app']);
}

function run(file: string, args: string[]): Promise<Measured> {
  const started = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'], env: environment });
  let most = 0;
  const watch = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    most = Math.max(most, Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024));
  }, 50);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearInterval(watch);
      if (code !== 0) return reject(new Error(`${file} ended with ${code}`));
      return resolve({ seconds: (performance.now() - started) / 1000, megabytes: most });
    });
  });
}

function median(measured: Measured[]): number {
  return measured.map((one) => one.seconds).sort((a, b) => a - b)[Math.floor(measured.length / 2)] ?? Number.NaN;
}

function figures(measured: Measured[], bytes: number): string[] {
  return [median(measured).toFixed(1), (bytes / 1e6 / median(measured)).toFixed(0)];
}

function ratio(ours: Measured[], theirs: Measured[]): string {
  return (median(ours) / median(theirs)).toFixed(2);
}

function memory(measured: Measured[]): string {
  return String(Math.max(...measured.map((one) => one.megabytes)));
}

function table(lines: string[][]): void {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) console.log(line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}
