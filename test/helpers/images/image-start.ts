import { execFileSync } from 'node:child_process';
import { chownSync, constants, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';
import type { PackResult } from '../../../src/repository/objects/pack-object.ts';
import { createPacker } from '../../../src/repository/objects/pack-object.ts';
import { FRAME_BYTES } from '../../../src/repository/objects/object-format.ts';
import { piecesOf } from './cut.ts';
import { DEFINITION, generated, indexesOf, mb, rowsFor, tablesOf } from './image-days.ts';
import { type ImagePrograms, initialise, LOAD_SETTINGS, makeOwned, resetLog, startImage } from './image-postgres.ts';

const ROUNDS = 5;
/** Milliseconds after which a way has no further round. */
const LONGEST = 30_000;

interface Stored {
  files: { path: string; bytes: number; chunks: { offset: number; object: PackResult & { path: string } }[] }[];
  folders: string[];
  bytes: number;
  storedBytes: number;
}

/** Ways from an image to a directory for a server; the time of each, of the start, and of the first queries. */
export async function measureStarts(programs: ImagePrograms, folder: string, megabytes: number): Promise<string[][]> {
  const image = join(folder, 'image');
  initialise(programs, image);
  const maker = await startImage(programs, image, LOAD_SETTINGS);
  const rows = rowsFor(megabytes);
  const began = performance.now();
  for (const statement of tablesOf((at) => [
    'BEGIN',
    `CREATE TABLE t_${at} ${DEFINITION}`,
    `INSERT INTO t_${at} ${generated(at, 1, rows)}`,
    ...indexesOf(at),
    'COMMIT',
  ]).flat())
    await maker.query(statement);
  await maker.query('VACUUM FREEZE');
  await maker.query('ANALYZE');
  await maker.stop();
  resetLog(programs, image);
  console.log(`Made the image in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  const store = store_(image, join(folder, 'objects'));
  console.log(`${mb(store.bytes)} MB in ${store.files.length} files, ${mb(store.storedBytes)} MB stored`);
  const found: string[][] = [['way', 'directory, s', 'server, s', 'one row, s', 'together, s', 'ratio to cp', 'count of 1/4 of the rows, s']];
  let cp = Number.NaN;
  const measure = async (name: string, way: (to: string) => Promise<string> | string, at = folder): Promise<void> => {
    const times: number[][] = [];
    for (const start = performance.now(); times.length < ROUNDS && (times.length === 0 || performance.now() - start < LONGEST); ) {
      const to = makeOwned(programs, join(at, 'round'));
      const started = performance.now();
      const data = await way(to);
      const made = performance.now();
      const server = await startImage(programs, data);
      const up = performance.now();
      await server.query(`SELECT * FROM t_0 WHERE id = ${Math.round(rows / 2)}`);
      const first = performance.now();
      await server.query('SELECT count(*), sum(amount) FROM t_0');
      const counted = performance.now();
      await server.stop();
      times.push([made - started, up - made, first - up, first - started, counted - first]);
      if (data.endsWith('merged')) execFileSync('umount', [data]);
      rmSync(to, { recursive: true });
    }
    const median = (which: number): number => (times.map((one) => one[which] ?? 0).sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0) / 1000;
    if (name === 'cp -a') cp = median(0);
    found.push([name, ...[0, 1, 2, 3].map((which) => median(which).toFixed(2)), (median(3) / cp).toFixed(2), median(4).toFixed(2)]);
    console.log(found.at(-1)?.join('  '));
  };
  const copy = (from: string, flag: number) => (to: string): string => copyTree(programs, { from, to: join(to, 'data'), flag });
  const chunks = (to: string): Promise<string> => assemble(programs, store, join(to, 'data'));
  await measure('cp -a', (to) => {
    execFileSync('cp', ['-a', '--reflink=never', image, join(to, 'data')]);
    return join(to, 'data');
  });
  await measure('ext4: copy', copy(image, 0));
  await measure('ext4: from chunks', chunks);
  await measure('ext4: overlayfs', (to) => {
    const [upper, work, merged] = ['upper', 'work', 'merged'].map((name) => makeOwned(programs, join(to, name)));
    execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${image},upperdir=${upper},workdir=${work}`, `${merged}`]);
    return `${merged}`;
  });
  const tmpfs = `/dev/shm/tool-images-${process.pid}`;
  try {
    makeOwned(programs, tmpfs);
    if (megabytes <= 2000) {
      await measure('tmpfs: copy of the image on ext4', copy(image, 0), tmpfs);
      await measure('tmpfs: from chunks', chunks, tmpfs);
    }
  } finally {
    rmSync(tmpfs, { recursive: true, force: true });
  }
  const mounted = makeOwned(programs, join(folder, 'xfs'));
  const disk = join(folder, 'xfs.img');
  writeFileSync(disk, '');
  truncateSync(disk, Math.round(store.bytes * 2.2 + 2e9));
  execFileSync('mkfs.xfs', ['-q', '-m', 'reflink=1', disk]);
  execFileSync('mount', ['-o', 'loop', disk, mounted]);
  try {
    makeOwned(programs, mounted);
    if (programs.user) chownSync(mounted, programs.user.uid, programs.user.gid);
    const cached = join(mounted, 'cached');
    execFileSync('cp', ['-a', image, cached]);
    rmSync(image, { recursive: true });
    await measure('XFS: reflinks of a cached copy', copy(cached, constants.COPYFILE_FICLONE_FORCE), mounted);
    await measure('XFS: copy', copy(cached, 0), mounted);
    await measure('XFS: from chunks', chunks, mounted);
  } finally {
    execFileSync('umount', [mounted]);
    rmSync(disk);
  }
  console.log(`Memory of this process: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB at most`);
  return found;
}

function store_(image: string, objects: string): Stored {
  const stored: Stored = { files: [], folders: [], bytes: 0, storedBytes: 0 };
  mkdirSync(objects);
  for (const entry of readdirSync(image, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(image.length + 1);
    if (entry.isDirectory()) stored.folders.push(path);
  }
  stored.folders.sort();
  for (const { file, offset, bytes } of piecesOf(image)) {
    if (offset === 0) stored.files.push({ path: file, bytes: 0, chunks: [] });
    const of = stored.files.at(-1);
    if (!of) throw new Error(file);
    of.bytes = offset + bytes.length;
    stored.bytes += bytes.length;
    if (bytes.length === 0 || bytes.equals(Buffer.alloc(bytes.length))) continue;
    const packer = createPacker(null);
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += FRAME_BYTES) parts.push(packer.add(bytes.subarray(at, at + FRAME_BYTES)));
    const { table, packed } = packer.finish();
    const path = join(objects, packed.sha256);
    writeFileSync(path, Buffer.concat([...parts, table]));
    stored.storedBytes += packed.storedBytes;
    of.chunks.push({ offset, object: { ...packed, path } });
  }
  return stored;
}

/** Two threads decompress and verify; one writes. */
async function assemble({ user }: ImagePrograms, { files, folders, bytes }: Stored, to: string): Promise<string> {
  await using pool = createObjectPool(2, { expectedBytes: bytes });
  const own = (path: string): void => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  mkdirSync(to, { mode: 0o700 });
  own(to);
  for (const folder of folders) {
    mkdirSync(join(to, folder), { mode: 0o700 });
    own(join(to, folder));
  }
  const next = files.values();
  const work = async (): Promise<void> => {
    for (const { path, bytes: size, chunks } of next) {
      const output = openSync(join(to, path), 'wx', 0o600);
      for (const { offset, object } of chunks) {
        let at = offset;
        for await (const frame of pool.read(object)) at += writeSync(output, frame, 0, frame.length, at);
      }
      closeSync(output);
      truncateSync(join(to, path), size);
      own(join(to, path));
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return to;
}

function copyTree({ user }: ImagePrograms, { from, to, flag }: { from: string; to: string; flag: number }): string {
  const own = (path: string): void => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  mkdirSync(to, { mode: 0o700 });
  own(to);
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = join(to, join(entry.parentPath, entry.name).slice(from.length + 1));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (entry.isDirectory()) mkdirSync(path, { recursive: true, mode: 0o700 });
    else copyFileSync(join(entry.parentPath, entry.name), path, flag);
    own(path);
  }
  return to;
}
