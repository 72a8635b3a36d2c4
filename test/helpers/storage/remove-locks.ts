import type { BucketProfile } from '../../../src/repository/s3/providers.ts';
import { createS3Store } from '../../../src/repository/s3/store.ts';

/** The lock of a killed sweep holds pushes up for minutes. */
export async function removeLocks(profile: BucketProfile): Promise<void> {
  const store = await createS3Store({ name: 'team', profile, signal: new AbortController().signal });
  for (const { key } of await store.list('locks')) await store.remove(key);
}
