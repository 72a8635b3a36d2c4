import { execFileSync } from 'node:child_process';
import { constants, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mb } from './cut.ts';
import { type ImageEngine, rowsFor } from './image-engine.ts';
import { assemble, copyTree, storeImage } from './image-store.ts';
import { makeOwned } from './make-owned.ts';

const ROUNDS = 5;
/** Milliseconds after which a way has no further round. */
const LONGEST = 30_000;

/** Ways from an image to a directory for a server; the time of each, of the start, and of the first queries. */
export async function measureStarts(engine: ImageEngine, folder: string, megabytes: number): Promise<string[][]> {
  const { user } = engine;
  const image = join(folder, 'image');
  const began = performance.now();
  await engine.make(image, megabytes);
  console.log(`Made an image of ${engine.name} in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  const store = storeImage(image, join(folder, 'objects'));
  console.log(`${mb(store.bytes)} MB in ${store.files.length} files, ${mb(store.storedBytes)} MB stored`);
  const found: string[][] = [
    ['way', 'directory, s', 'server, s', 'one row, s', 'together, s', 'ratio to cp', 'count of 1/4 of the rows, s'],
  ];
  let cp = Number.NaN;
  const measure = async (name: string, way: (to: string) => Promise<string> | string, at = folder): Promise<void> => {
    const times: number[][] = [];
    for (
      const start = performance.now();
      times.length < ROUNDS && (times.length === 0 || performance.now() - start < LONGEST);
    ) {
      const to = makeOwned(user, join(at, 'round'));
      const started = performance.now();
      const data = await way(to);
      const made = performance.now();
      const server = await engine.start(data);
      const up = performance.now();
      await server.query(engine.one(rowsFor(megabytes)));
      const first = performance.now();
      await server.query(engine.count);
      const counted = performance.now();
      await server.stop();
      times.push([made - started, up - made, first - up, first - started, counted - first]);
      if (data.endsWith('merged')) execFileSync('umount', [data]);
      rmSync(to, { recursive: true });
    }
    const median = (which: number): number =>
      (times.map((one) => one[which] ?? 0).sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0) / 1000;
    if (name === 'cp -a') cp = median(0);
    found.push([
      name,
      ...[0, 1, 2, 3].map((which) => median(which).toFixed(2)),
      (median(3) / cp).toFixed(2),
      median(4).toFixed(2),
    ]);
    console.log(found.at(-1)?.join('  '));
  };
  const copy =
    (from: string, flag: number) =>
    (to: string): string =>
      copyTree(user, { from, to: join(to, 'data'), flag });
  const chunks = (to: string): Promise<string> => assemble(user, store, join(to, 'data'));
  await measure('cp -a', (to) => {
    execFileSync('cp', ['-a', '--reflink=never', image, join(to, 'data')]);
    return join(to, 'data');
  });
  await measure('ext4: copy', copy(image, 0));
  await measure('ext4: from chunks', chunks);
  await measure('ext4: overlayfs', (to) => {
    const [upper, work, merged] = ['upper', 'work', 'merged'].map((name) => makeOwned(user, join(to, name)));
    execFileSync('mount', [
      '-t',
      'overlay',
      'overlay',
      '-o',
      `lowerdir=${image},upperdir=${upper},workdir=${work}`,
      `${merged}`,
    ]);
    return `${merged}`;
  });
  const tmpfs = `/dev/shm/tool-images-${process.pid}`;
  try {
    makeOwned(user, tmpfs);
    if (megabytes <= 2000) {
      await measure('tmpfs: copy of the image on ext4', copy(image, 0), tmpfs);
      await measure('tmpfs: from chunks', chunks, tmpfs);
    }
  } finally {
    rmSync(tmpfs, { recursive: true, force: true });
  }
  const mounted = makeOwned(user, join(folder, 'xfs'));
  const disk = join(folder, 'xfs.img');
  writeFileSync(disk, '');
  truncateSync(disk, Math.round(store.bytes * 2.2 + 2e9));
  execFileSync('mkfs.xfs', ['-q', '-m', 'reflink=1', disk]);
  execFileSync('mount', ['-o', 'loop', disk, mounted]);
  try {
    makeOwned(user, mounted);
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
