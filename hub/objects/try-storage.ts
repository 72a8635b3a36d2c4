import { randomUUID } from 'node:crypto';
import type { StorageSettings } from '../../src/cloud/contract/resources.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { findObject, removeKey, writeText } from './bucket-calls.ts';
import { openTargetBucket } from './buckets.ts';
import { assertEndpointNotLinkLocal } from './reach.ts';

/** Writes, reads and removes a test object; the reason when that fails. */
export async function tryStorage(name: string, settings: StorageSettings): Promise<string | null> {
  try {
    await assertEndpointNotLinkLocal(settings);
    const bucket = await openTargetBucket({ name, settings, folder: 'probe' });
    const key = randomUUID();
    await writeText(bucket, key, { text: 'test' });
    const found = await findObject(bucket, key);
    await removeKey(bucket, key);
    return found?.bytes === 4 ? null : 'the bucket does not show what was written';
  } catch (error) {
    return toUserError(error).message;
  }
}
