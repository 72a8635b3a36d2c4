import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

if (import.meta.main) await build();

export { build as setup };

/** Bundles the program into dist/ unless what lies there was made of exactly these sources. */
export async function build() {
  const inputs = describeInputs();
  if (existsSync(join(dist, '.inputs')) && readFileSync(join(dist, '.inputs'), 'utf8') === inputs) return;
  const { bundle } = await import('./bundle/bundle.mjs');
  const next = `${dist}.${process.pid}`;
  await bundle(root, next);
  writeFileSync(join(next, '.inputs'), inputs);
  // Another run may use the present one: it goes at once.
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
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
