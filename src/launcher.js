#!/usr/bin/env node
// The program's `bin`. An old Node must be able to read this file, so that it can say what is needed or hand over.
// Of the built-in modules it loads what it needs only where it needs it: each costs every start some of its time. For
// the same reason a recent Node is asked for them by a function: an import statement reads all that a module exports, and
// that of `fs` brings streams, watchers, promises and a line editor with it.

const NEEDED = [22, 15];

if (process.getBuiltinModule) launch(process.argv.slice(2), process.getBuiltinModule('module'));
else void import('module').then(({ default: module }) => launch(process.argv.slice(2), module));

function launch(words, module) {
  const require = module.createRequire(import.meta.url);
  // Answered here: a script that asks for the version should not pay for the whole program.
  if (words.length === 1 && words[0] === '--version') {
    process.stdout.write(`${version(require)}\n`);
  } else if (isRecent(process.versions.node)) {
    if (process.env.TOOL_LAUNCHED && process.channel) followLauncher();
    module.enableCompileCache(cacheDirectory(require));
    serveBundle(require, module);
    void import('./main.ts');
  } else {
    const runtime = ownRuntime(require);
    if (runtime) handOver(require, runtime, words);
    else explain();
  }
}

function version(require) {
  const { readFileSync } = require('fs');
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

function isRecent(running) {
  const [major, minor] = running.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

/**
 * The bundle is one flat folder of a hundred files: Node's own search, which looks for links, folders and packages around
 * each of them, takes a quarter of a start.
 */
function serveBundle(require, module) {
  const { readFileSync } = require('fs');
  const folder = new URL('.', import.meta.url).href;
  const isOfBundle = (url) => url.startsWith(folder) && /^[\w-]+\.js$/.test(url.slice(folder.length));
  module.registerHooks({
    resolve(specifier, context, next) {
      const url = folder + specifier.slice(2);
      const isServed = specifier.startsWith('./') && context.parentURL?.startsWith(folder) && isOfBundle(url);
      return isServed ? { url, format: 'module', shortCircuit: true } : next(specifier, context);
    },
    load(url, context, next) {
      if (!isOfBundle(url)) return next(url, context);
      return { format: 'module', source: readFileSync(new URL(url)), shortCircuit: true };
    },
  });
}

/**
 * The user's own, whatever the umask: others could plant code there, as in Node's default in the shared temporary
 * directory.
 */
function cacheDirectory(require) {
  const { homedir } = require('os');
  const { mkdirSync } = require('fs');
  const directory = `${process.env.XDG_CACHE_HOME || `${homedir()}/.cache`}/tool/compile-cache`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch {
    // Without a place for it, Node does without the cache.
  }
  return directory;
}

/** The runtime that the npm package `node` brings, when that package is installed beside this one. */
function ownRuntime(require) {
  try {
    return isRecent(require('node/package.json').version) ? require.resolve('node/bin/node') : undefined;
  } catch {
    return undefined;
  }
}

function handOver(require, runtime, words) {
  const { spawn } = require('child_process');
  const { isatty } = require('tty');
  const { fileURLToPath } = require('url');
  const child = spawn(runtime, [fileURLToPath(import.meta.url)].concat(words), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: Object.assign({}, process.env, { TOOL_LAUNCHED: '1' }),
  });
  // A terminal sends Ctrl-C to the child as well. By the channel the child can tell that both are one.
  process.on('SIGINT', () => (isatty(0) && child.connected ? child.send('SIGINT') : child.kill('SIGINT')));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', explain);
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The channel closes when the launcher ends, SIGKILL included: the work ends with it. */
function followLauncher() {
  delete process.env.TOOL_LAUNCHED;
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.on('message', (signal) => process.emit(signal, signal));
  process.channel.unref();
}

function explain() {
  process.stderr.write(
    `tool needs Node ${NEEDED.join('.')} or newer; this is Node ${process.versions.node}.\n` +
      'Get a current one from https://nodejs.org or your package manager, or run: npm install --global node\n',
  );
  process.exitCode = 1;
}
