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
      members.map((file, at) => [
        basename(file),
        { group: `part-${index + 1}.js`, id: `m${at}`, names: outputs[file].exports },
      ]),
    ),
  );
  const files = Object.keys(outputs).filter((file) => file.endsWith('.js'));
  const texts = new Map(
    await Promise.all(files.map(async (file) => [basename(file), await readFile(join(root, file), 'utf8')])),
  );
  const needed = neededNames(texts, places);
  await Promise.all(groups.map((members, index) => joinGroup({ outdir, outputs, members, index, places, needed })));
  await Promise.all([...places.keys()].map((name) => rm(join(outdir, name))));
  const left = [...texts.keys()].filter((name) => !places.has(name));
  const written = [...left, ...groups.map((_, index) => `part-${index + 1}.js`)].map((name) => join(outdir, name));
  await Promise.all(written.map(async (path) => writeFile(path, redirected(await readFile(path, 'utf8'), places))));
}

const STATIC_IMPORT = /\bimport(?:\{([^}]*)\}from)?"\.\/([\w-]+\.js)"/g;

/** By file, the exports that other files need than those of its group. */
function neededNames(texts, places) {
  const needed = new Map([...places.keys()].map((name) => [name, new Set()]));
  for (const [importer, text] of texts) {
    for (const [, names = '', file] of text.matchAll(STATIC_IMPORT)) {
      if (places.has(file) && places.get(file).group === places.get(importer)?.group) continue;
      for (const name of names.split(',')) needed.get(file)?.add(name.trim().split(/\s+as\s+/)[0]);
    }
  }
  return needed;
}

function groupsOf(outputs, { roots, isStarted }) {
  const needed = new Map();
  const isOfRoot =
    (pattern) =>
    ({ entryPoint = '' }) =>
      pattern.test(entryPoint);
  // Also what is loaded without a root tells chunks apart: a command loads nothing of what the screens alone need.
  const others = ({ entryPoint }) => entryPoint && !roots.some((pattern) => pattern.test(entryPoint));
  for (const [index, isRoot] of [...roots.map(isOfRoot), others].entries()) {
    const closure = closureOf(outputs, isRoot);
    if (closure.size === 0 && roots[index])
      throw new Error(`No chunk belongs to ${roots[index]}: see the roots of the bundle`);
    for (const file of closure)
      if (roots[index] || needed.has(file)) needed.set(file, `${needed.get(file) ?? ''} ${index}`);
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

/** Its exports are those of its members by number: `m1_4` of the member `m1`, and `m1_` for all of it. */
async function joinGroup({ outdir, outputs, members, index, places, needed }) {
  const lines = members.flatMap((file) => {
    const place = places.get(basename(file));
    const from = JSON.stringify(`./${basename(file)}`);
    const names = [...needed.get(basename(file))].filter(Boolean).map((name) => `${name} as ${aliasOf(place, name)}`);
    const all = outputs[file].entryPoint ? [`export * as ${place.id}_ from ${from};`] : [];
    return [`export { ${names.join(', ')} } from ${from};`, ...all];
  });
  const own = new Set(members.map((file) => `./${basename(file)}`));
  await build({
    stdin: { contents: lines.join('\n'), resolveDir: outdir },
    outfile: join(outdir, `part-${index + 1}.js`),
    // A package that the bundle has left out finds its own files only where it is installed.
    ...{ bundle: true, packages: 'external', format: 'esm', platform: 'node', target: 'esnext', logLevel: 'error' },
    ...{ minifySyntax: true, minifyWhitespace: true, legalComments: 'inline' },
    plugins: [othersStay(own)],
  });
}

function aliasOf({ id, names }, name) {
  return `${id}_${names.indexOf(name)}`;
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
  const loaded = new Set();
  return text
    .replaceAll(STATIC_IMPORT, (whole, names, file) => {
      const place = places.get(file);
      if (!place) return whole;
      if (names === undefined) {
        const isFirst = !loaded.has(place.group);
        loaded.add(place.group);
        return isFirst ? `import"./${place.group}"` : '';
      }
      const renamed = names.split(',').map((name) => {
        const [exported, local = exported] = name.trim().split(/\s+as\s+/);
        return `${aliasOf(place, exported)} as ${local}`;
      });
      return `import{${renamed.join(',')}}from"./${place.group}"`;
    })
    .replaceAll(/\bimport\("\.\/([\w-]+\.js)"\)/g, (whole, file) => {
      const place = places.get(file);
      return place ? `import("./${place.group}").then(all=>all.${place.id}_)` : whole;
    });
}
