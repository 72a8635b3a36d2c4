import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/**
 * Joins the chunks that are always loaded together: esbuild makes a file for every set of entries that share code, some
 * hundred of them for a command, and each takes Node a quarter of a millisecond.
 *
 * A root is what is loaded together: files that esbuild has made entries of, by themselves or by a dynamic import.
 * Chunks that the same roots need become one file, so that no root loads more than it needs, and no two files need each
 * other. Chunks that no root needs stay as they are.
 */
export async function joinChunks({ root, outdir, outputs, roots, entries }) {
  const groups = groupsOf(outputs, { roots, isStarted: ({ entryPoint }) => entries.includes(entryPoint) });
  const places = new Map(
    groups.flatMap((members, index) =>
      members.map((file, at) => [file, { group: `part-${index + 1}.js`, id: `m${at}` }]),
    ),
  );
  await Promise.all(groups.map((members, index) => joinGroup({ outdir, outputs, members, index, places })));
  await Promise.all([...places.keys()].map((file) => rm(join(root, file))));
  const files = [...Object.keys(outputs).filter((file) => file.endsWith('.js') && !places.has(file))];
  const paths = [
    ...files.map((file) => join(root, file)),
    ...groups.map((_, index) => join(outdir, `part-${index + 1}.js`)),
  ];
  const byName = new Map([...places].map(([file, place]) => [basename(file), place]));
  await Promise.all(paths.map(async (path) => writeFile(path, redirected(await readFile(path, 'utf8'), byName))));
}

function groupsOf(outputs, { roots, isStarted }) {
  const needed = new Map();
  const closures = roots.map((pattern) => closureOf(outputs, ({ entryPoint = '' }) => pattern.test(entryPoint)));
  for (const [index, closure] of closures.entries()) {
    if (closure.size === 0) throw new Error(`No chunk belongs to ${roots[index]}: see the roots of the bundle`);
    for (const file of closure) needed.set(file, `${needed.get(file) ?? ''} ${index}`);
  }
  const joined = [...needed.keys()].filter((file) => !isStarted(outputs[file])).sort();
  return [...Map.groupBy(joined, (file) => needed.get(file)).values()].filter(({ length }) => length > 1);
}

function closureOf(outputs, isRoot) {
  const found = new Set(Object.keys(outputs).filter((file) => isRoot(outputs[file])));
  for (const file of found) {
    for (const { path, kind } of outputs[file].imports)
      if (kind === 'import-statement' && path in outputs) found.add(path);
  }
  return found;
}

/** Its exports are those of its members, each with the member's id before its name; `m1_` is all of a member. */
async function joinGroup({ outdir, outputs, members, index, places }) {
  const lines = members.flatMap((file) => {
    const { id } = places.get(file);
    const from = JSON.stringify(`./${basename(file)}`);
    const { exports, entryPoint } = outputs[file];
    const names = exports.map((name) => `${name} as ${id}_${name}`).join(', ');
    return [`export { ${names} } from ${from};`, ...(entryPoint ? [`export * as ${id}_ from ${from};`] : [])];
  });
  const own = new Set(members.map((file) => `./${basename(file)}`));
  await build({
    stdin: { contents: lines.join('\n'), resolveDir: outdir },
    outfile: join(outdir, `part-${index + 1}.js`),
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'esnext', logLevel: 'error' },
    ...{ minifySyntax: true, minifyWhitespace: true, legalComments: 'inline' },
    plugins: [othersStay(own)],
  });
}

/** What is imported dynamically is imported from its own file, which may be this one. */
const othersStay = (own) => ({
  name: 'other files stay',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\// }, ({ path, kind }) =>
      own.has(path) && kind !== 'dynamic-import' ? undefined : { path, external: true },
    );
  },
});

/** The text with imports from the joined files. */
function redirected(text, places) {
  return text
    .replaceAll(/\bimport(?:\{([^}]*)\}from)?"\.\/([\w-]+\.js)"/g, (whole, names, file) => {
      const place = places.get(file);
      if (!place) return whole;
      if (names === undefined) return `import"./${place.group}"`;
      const renamed = names.split(',').map((name) => {
        const [exported, local = exported] = name.trim().split(/\s+as\s+/);
        return `${place.id}_${exported} as ${local}`;
      });
      return `import{${renamed.join(',')}}from"./${place.group}"`;
    })
    .replaceAll(/\bimport\("\.\/([\w-]+\.js)"\)/g, (whole, file) => {
      const place = places.get(file);
      return place ? `import("./${place.group}").then(all=>all.${place.id}_)` : whole;
    });
}
