import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ManifestInvalid } from '../../src/repository/manifest/manifest.ts';
import { createSemaphore } from '../../src/runtime/semaphore.ts';
import { workerFile } from '../../src/runtime/thread-pool.ts';
import { type ManifestSummary, type SummaryReply, summarise } from './summarise.ts';

/** Characters of a manifest that are parsed and verified in some 10 ms; a thread takes longer to start. */
const SMALL = 256 * 1024;

/** A parsed manifest takes many times its length. */
const HEAP = { maxOldGenerationSizeMb: 1024 };

/** One at a time: so much memory, and one core. */
const inThread = createSemaphore(1);

/** Parses and verifies a manifest; a large one in a thread, so that others are answered meanwhile. Throws ManifestInvalid. */
export async function readManifest(text: string): Promise<ManifestSummary> {
  const reply = text.length <= SMALL ? summarise(text) : await inThread(() => summariseInThread(text));
  if ('invalid' in reply) throw new ManifestInvalid(reply.invalid);
  return reply.summary;
}

async function summariseInThread(text: string): Promise<SummaryReply> {
  const worker = new Worker(workerFile(import.meta.url, 'manifest-worker'), {
    name: 'manifest',
    workerData: text,
    resourceLimits: HEAP,
  });
  try {
    const [reply] = await once(worker, 'message');
    return reply;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    return { invalid: 'it needs too much memory' };
  } finally {
    await worker.terminate();
  }
}
