/** The main script of the single executable, which Node runs as CommonJS: as src/launcher.js, and as fast. */
import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { getAsset } from 'node:sea';
import { constants, runInThisContext } from 'node:vm';
import { moduleUrl, serveModules } from './modules.ts';

const words = process.argv.slice(2);

if (words.length === 1 && words[0] === '--version') {
  process.stdout.write(`${JSON.parse(getAsset('package.json', 'utf8')).version}\n`);
} else {
  serveModules();
  const cache = `${process.env.XDG_CACHE_HOME || `${homedir()}/.cache`}/tool/compile-cache`;
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
  } catch {
    // Without a place for it, Node does without the cache.
  }
  enableCompileCache(cache);
  // Since Node 26, import() of this script itself finds Node's own modules only.
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const { emitWarning } = process;
  // Node 24 says that this is experimental.
  process.emitWarning = () => {};
  runInThisContext('url => import(url)', { importModuleDynamically })(moduleUrl('main.js'));
  process.emitWarning = emitWarning;
}
