import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const stamp = join(dist, '.inputs');

if (import.meta.main) await build();

/** Bundles the program into dist/ unless what lies there was made of exactly these sources. */
export async function build() {
  const inputs = describeInputs();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return;
  const { bundle } = await import('./bundle/bundle.mjs');
  rmSync(dist, { recursive: true, force: true });
  await bundle(root, dist);
  writeFileSync(stamp, inputs);
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
  return `${file} ${size} ${mtimeMs}\n`;
}
