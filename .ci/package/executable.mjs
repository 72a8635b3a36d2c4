import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inject } from 'postject';
import { builtins } from '../bundle/builtins.mjs';
import { ASSETS } from './files.mjs';

/** https://nodejs.org/api/single-executable-applications.html */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * Writes `file`: the Node of `platform` with the bundle of `dist/` and the files of the package inside. `preparing` is a
 * Node of the same version that runs here.
 */
export async function makeExecutable({ root, manifest, platform, node, preparing, file }) {
  const folder = mkdtempSync(join(tmpdir(), 'tool-executable-'));
  try {
    const description = {
      // Relative, since Node stores it.
      main: 'main.js',
      output: 'blob',
      disableExperimentalSEAWarning: true,
      // The compile cache of the user does that, and import() needs a script that was compiled here.
      useCodeCache: false,
      assets: await assets({ root, manifest, platform, folder }),
    };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(description));
    execFileSync(preparing, ['--experimental-sea-config', 'settings.json'], { cwd: folder, stdio: 'pipe' });
    const unfinished = `${file}.unfinished`;
    copyFileSync(node, unfinished);
    chmodSync(unfinished, 0o755);
    prepare(unfinished, platform);
    await injectQuietly(unfinished, await readFile(join(folder, 'blob')), platform);
    if (platform.startsWith('darwin')) signForMacOs(unfinished);
    await rename(unfinished, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** By name: modules as `dist/…`, files of the package by their path in it. */
async function assets({ root, manifest, platform, folder }) {
  await bundleScripts(root, folder);
  const addon = join(root, 'node_modules/keytar/prebuilds', platform, 'keytar.node');
  if (!existsSync(addon)) throw new Error(`keytar has no addon for ${platform}: ${addon}`);
  const packageFile = join(folder, 'package.json');
  await writeFile(packageFile, JSON.stringify({ name: manifest.name, version: manifest.version }));
  const modules = globSync('dist/*.js', { cwd: root, exclude: ['dist/tool.js'] }).sort();
  return {
    ...Object.fromEntries([...modules, ...ASSETS].map((path) => [path, join(root, path)])),
    'dist/keytar.js': join(folder, 'keytar.js'),
    'package.json': packageFile,
    'worker.js': join(folder, 'worker.js'),
    'keytar.node': addon,
  };
}

async function bundleScripts(root, folder) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    logLevel: 'error',
    minifySyntax: true,
    minifyWhitespace: true,
    outdir: folder,
    plugins: [carriedAddon, builtins],
  };
  await build({
    ...common,
    format: 'cjs',
    entryPoints: { main: 'src/executable/main.ts', worker: 'src/executable/worker.ts' },
  });
  await build({ ...common, format: 'esm', entryPoints: { keytar: 'keytar' } });
}

/** Lets keytar load the addon that the executable carries, instead of a file beside it. */
const carriedAddon = {
  name: 'the addon in the executable',
  setup({ initialOptions, onLoad }) {
    const source = join(initialOptions.absWorkingDir, 'src/executable/keytar-addon.ts');
    onLoad({ filter: /keytar[\\/]lib[\\/]keytar\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text.replace('= loadNativeAddon()', `= require(${JSON.stringify(source)}).loadAddon()`);
      if (contents === text) throw new Error(`${path} loads its addon in another way: see .ci/package/executable.mjs`);
      return { contents, loader: 'js' };
    });
  },
};

/** Symbols are a sixth of Node, and the signature of Apple's is of another content. */
function prepare(file, platform) {
  if (platform.startsWith('linux')) {
    const program = platform === `linux-${process.arch}` ? 'strip' : `${GNU[platform]}-strip`;
    execFileSync(program, ['--strip-all', file]);
  } else if (platform.startsWith('darwin')) {
    const [program, ...words] = process.platform === 'darwin' ? ['codesign', '--remove-signature', file] : [];
    if (program) execFileSync(program, words);
  }
}

const GNU = { 'linux-x64': 'x86_64-linux-gnu', 'linux-arm64': 'aarch64-linux-gnu' };

/** Its library warns about each unnamed note of Node. */
async function injectQuietly(file, blob, platform) {
  const { error, warn, log } = console;
  Object.assign(console, { error() {}, warn() {}, log() {} });
  try {
    const options = { sentinelFuse: FUSE, ...(platform.startsWith('darwin') && { machoSegmentName: 'NODE_SEA' }) };
    await inject(file, RESOURCE, blob, options);
  } finally {
    Object.assign(console, { error, warn, log });
  }
}

/** Apple's processors run signed programs only; an ad-hoc signature is enough. Elsewhere install.sh and brew sign it. */
function signForMacOs(file) {
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', file]);
}
