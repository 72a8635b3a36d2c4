import { join } from 'node:path';
import { build } from 'esbuild';

/** Bundles the screens over fake operations into a folder; the path of what Node is to run. */
export async function bundleScreens(folder: string): Promise<string> {
  await build({
    entryPoints: ['test/e2e/fixtures/screens.tsx'],
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    // Ink asks for it in development only.
    external: ['react-devtools-core'],
    banner: { js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return join(folder, 'screens.js');
}
