import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { yogaWasm } from '../../.ci/bundle/bundle.mjs';
import { patchPlugin } from '../../.ci/bundle/patch-plugin.mjs';
import { patches } from '../../.ci/bundle/patches.mjs';

/** Bundles the screens over fake operations into a folder, as the program is; the path of what Node is to run. */
export async function bundleScreens(folder: string): Promise<string> {
  await build({
    entryPoints: ['test/e2e/fixtures/screens.tsx'],
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.15',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: { 'plain-text': fileURLToPath(new URL('../../.ci/bundle/plain-text.mjs', import.meta.url)) },
    plugins: [patchPlugin(patches, { partly: true }), yogaWasm],
    banner: { js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return join(folder, 'screens.js');
}
