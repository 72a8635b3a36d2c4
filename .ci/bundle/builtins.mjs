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

/** Most runs call nothing of these: what they export asks for the module when it is called. */
const RARELY_CALLED = new Set(
  ['dns/promises', 'readline', 'readline/promises', 'stream/consumers', 'v8', 'worker_threads'].map(
    (name) => `node:${name}`,
  ),
);

/** Reading an export is marked as pure, so that those which nobody uses are left out. */
function moduleText(name) {
  const module = process.getBuiltinModule(name);
  const exported = Object.keys(module).filter((key) => key !== 'default');
  const isLazy = (key) => RARELY_CALLED.has(name) && typeof module[key] === 'function';
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule('${name}');`,
    'export default builtin;',
    ...exported.map((key) => `${isLazy(key) ? callText(name, key) : readText(key)} export { _${key} as ${key} };`),
  ].join('\n');
}

function readText(key) {
  return `const _${key} = /* @__PURE__ */ (() => builtin.${key})();`;
}

function callText(name, key) {
  const called = `process.getBuiltinModule('${name}').${key}`;
  return `function _${key}(...words) { return new.target ? new (${called})(...words) : ${called}(...words); }`;
}
