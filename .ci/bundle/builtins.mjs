/**
 * An esbuild plugin: what Node brings is asked for by a function instead of an import statement. That would read every
 * export of a module at once, and Node makes many of them only when they are read: with `fs` alone come streams,
 * watchers, promises and a line editor, which takes a tenth of the time to the first frame.
 */
export const builtins = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind, importer }) =>
      // One for each importer: what one of them uses is then not read for the others.
      kind === 'import-statement' ? { path: `${importer}?${path}`, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: moduleText(path.slice(path.lastIndexOf('?') + 1)),
      loader: 'js',
    }));
  },
};

/** Many runs, and every first frame, call nothing of these: their functions ask for the module when they are called. */
const LOADED_LATE = new Set(
  [
    ...['assert', 'child_process', 'crypto', 'dns/promises', 'fs/promises', 'http', 'https', 'readline'],
    ...['readline/promises', 'stream/consumers', 'stream/promises', 'timers/promises', 'tls', 'v8', 'worker_threads'],
    'zlib',
  ].map((name) => `node:${name}`),
);

/** Reading an export is marked as pure, so that those which nobody uses are left out. */
function moduleText(name) {
  const module = process.getBuiltinModule(name);
  const exported = Object.keys(module).filter((key) => key !== 'default');
  const isLazy = (key) => LOADED_LATE.has(name) && typeof module[key] === 'function' && !isInstanceChecked(name, key);
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule('${name}');`,
    'export default builtin;',
    ...exported.map((key) => `${isLazy(key) ? callText(name, key) : readText(key)} export { _${key} as ${key} };`),
  ].join('\n');
}

/** Of classes, those of threads are only constructed; others may be asked about by `instanceof`. */
function isInstanceChecked(name, key) {
  return /^[A-Z]/.test(key) && name !== 'node:worker_threads';
}

function readText(key) {
  return `const _${key} = /* @__PURE__ */ (() => builtin.${key})();`;
}

function callText(name, key) {
  const called = `process.getBuiltinModule('${name}').${key}`;
  return `function _${key}(...words) { return new.target ? new (${called})(...words) : ${called}(...words); }`;
}
