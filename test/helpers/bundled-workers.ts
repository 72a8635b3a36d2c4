import { syncBuiltinESMExports } from 'node:module';
import { dirname, join, parse } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import threads, { type WorkerOptions } from 'node:worker_threads';
import { PROGRAM } from './program.ts';

// Threads run from the bundle, as users have them; they start in a third of the time. Each suite of a process runs this
// file: a class from the bundle is kept.
const folder = dirname(PROGRAM);
const source = dirname(folder);
class BundledWorker extends threads.Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    const path = file instanceof URL ? fileURLToPath(file) : file;
    const { name, ext } = parse(path);
    const isOurs = ext === '.ts' && path.startsWith(source);
    super(isOurs ? pathToFileURL(join(folder, `${name}.js`)) : file, options);
  }
}
if (threads.Worker.name !== BundledWorker.name) {
  threads.Worker = BundledWorker;
  syncBuiltinESMExports();
}
