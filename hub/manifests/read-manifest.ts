import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ManifestInvalid } from '../../src/repository/manifest/manifest.ts';
import { createSemaphore } from '../../src/runtime/semaphore.ts';
import { workerFile } from '../../src/runtime/thread-pool.ts';
import {
  type ImageSummary,
  type ManifestKind,
  type ManifestSummary,
  SUMMARIES,
  type SummaryReply,
} from './summarise.ts';

/** Characters of a manifest that are parsed and verified in some 10 ms; a thread takes longer to start. */
const SMALL = 256 * 1024;

/** A parsed manifest takes many times its length. */
const HEAP = { maxOldGenerationSizeMb: 1024 };

/** One at a time: so much memory, and one core. */
const inThread = createSemaphore(1);

/** Parses and verifies a manifest. Throws ManifestInvalid. */
export const readManifest = (text: string): Promise<ManifestSummary> => read('snapshot', text);

/** Parses the manifest of an image, and verifies its signature. Throws ManifestInvalid. */
export const readImageManifest = (text: string): Promise<ImageSummary> => read('image', text);

type SummaryOf<Kind extends ManifestKind> = Extract<
  ReturnType<(typeof SUMMARIES)[Kind]>,
  { summary: unknown }
>['summary'];

/** A large one is parsed in a thread, so that others are answered meanwhile. */
async function read<Kind extends ManifestKind>(kind: Kind, text: string): Promise<SummaryOf<Kind>> {
  const work = { kind, text };
  const reply = text.length <= SMALL ? SUMMARIES[kind](text) : await inThread(() => summariseInThread(work));
  if ('invalid' in reply) throw new ManifestInvalid(reply.invalid);
  return reply.summary;
}

async function summariseInThread<Kind extends ManifestKind>(workerData: {
  kind: Kind;
  text: string;
}): Promise<SummaryReply<SummaryOf<Kind>>> {
  const worker = new Worker(workerFile(import.meta.url, 'manifest-worker'), {
    name: 'manifest',
    workerData,
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
