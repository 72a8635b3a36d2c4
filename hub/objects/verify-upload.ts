import { createSemaphore } from '../../src/runtime/semaphore.ts';
import type { FoundObject } from './bucket-calls.ts';
import { checkContent } from './check-content.ts';

/** The hub does not read larger objects; a reader reports one that differs. */
const MOST_STORED_BYTES = 1024 * 1024;
const MOST_CONTENT_BYTES = 16 * 1024 * 1024;

/** Bounds the memory of one instance. */
const AT_ONCE = 4;
const TIMEOUT = 10_000;

const semaphore = createSemaphore(AT_ONCE);

/** Reports whether the content of an uploaded object matches its name; `null` for one that is too large to read. */
export async function verifyUpload(object: FoundObject, sha256: string): Promise<boolean | null> {
  if (object.bytes > MOST_STORED_BYTES) return null;
  const bounds = { most: MOST_CONTENT_BYTES, signal: AbortSignal.timeout(TIMEOUT) };
  const verdict = await semaphore(() => checkContent(object, sha256, bounds));
  return verdict === 'too large' ? null : verdict === 'matches';
}
