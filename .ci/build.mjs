import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

if (import.meta.main) await build();

export { build as setup };

/** Bundles the program into dist/ unless what lies there was made of exactly these sources. */
export async function build() {
  const inputs = describeInputs();
  if (readInputs() === inputs) return;
  const { bundle } = await import('./bundle/bundle.mjs');
  const next = `${dist}.${process.pid}`;
  try {
    await bundle(root, next);
    writeFileSync(join(next, '.inputs'), inputs);
    replaceFolder(next, dist);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** Other runs may replace the folder at the same time; programs that use it miss it for a moment only. */
export function replaceFolder(next, folder) {
  const previous = `${next}.previous`;
  for (let replaced = false; !replaced; ) {
    renameUnless(['ENOENT'], folder, previous);
    replaced = renameUnless(['ENOTEMPTY', 'EEXIST'], next, folder);
    rmSync(previous, { recursive: true, force: true });
  }
}

function renameUnless(codes, from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
    return false;
  }
}

/** What the present bundle was made of; another run may replace it meanwhile. */
function readInputs() {
  try {
    return readFileSync(join(dist, '.inputs'), 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return null;
  }
}

/** Names, sizes and times: reading them takes a few milliseconds. */
function describeInputs() {
  const folders = ['src', 'hub', 'components', 'screens', '.ci/bundle'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return [...files, join(root, 'package.json'), join(root, 'package-lock.json')].sort().map(describe).join('');
}

function describe(file) {
  const { size, mtimeMs } = statSync(file);
  return `${relative(root, file)} ${size} ${mtimeMs}\n`;
}
