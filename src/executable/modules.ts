import { isBuiltin, registerHooks } from 'node:module';
import { getAsset, getRawAsset } from 'node:sea';
import { pathToFileURL } from 'node:url';
import threads, { type WorkerOptions } from 'node:worker_threads';

/** Below the executable, which is a file: no file of this machine can have an address in here. */
const ROOT = pathToFileURL(`${process.execPath}/dist/`).href;

/** Packages that the executable carries, by the name under which the program imports them. */
const PACKAGES: Record<string, string> = { keytar: 'keytar.js' };

export function moduleUrl(name: string): string {
  return `${ROOT}${name}`;
}

/**
 * Loads the modules of the bundle from the executable, in this thread and in the workers that it starts. The program in
 * there takes no package of this machine: whoever can write into a folder above could plant one.
 */
export function serveModules(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith(ROOT)) return { url: specifier, shortCircuit: true };
      if (!context.parentURL?.startsWith(ROOT) || isBuiltin(specifier)) return next(specifier, context);
      if (specifier.startsWith('./')) return { url: new URL(specifier, context.parentURL).href, shortCircuit: true };
      const carried = Object.hasOwn(PACKAGES, specifier) && PACKAGES[specifier];
      if (carried) return { url: moduleUrl(carried), shortCircuit: true };
      throw new Error(`The executable does not carry the package ${specifier}`);
    },
    load(url, context, next) {
      if (!url.startsWith(ROOT)) return next(url, context);
      const source = getRawAsset(`dist/${url.slice(ROOT.length)}`) as ArrayBuffer;
      return { format: 'module', source, shortCircuit: true };
    },
  });
  threads.Worker = class extends threads.Worker {
    constructor(file: string | URL, options?: WorkerOptions) {
      const url = String(file);
      if (!url.startsWith(ROOT)) super(file, options);
      else super(getAsset('worker.js', 'utf8'), { ...options, eval: true, argv: [url] });
    }
  };
}
