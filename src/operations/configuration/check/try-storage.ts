import { randomBytes } from 'node:crypto';
import { clearEnvelope } from '../../../repository/encryption/envelope.ts';
import type { StorageProfile } from '../../../repository/s3/connection.ts';
import { storeOpener } from '../../../repository/store/open-store.ts';
import type { Store } from '../../../repository/store/store.ts';
import { UserError } from '../../../runtime/errors.ts';

export type { StorageProfile };

/** Folder without other objects of this program. */
const FOLDER = 'probe';

/** Does with a small object of its own what pushes, pulls and removals do, and leaves nothing behind. */
export async function tryStorage(profile: StorageProfile, { signal }: { signal: AbortSignal }): Promise<string> {
  const open = await storeOpener({ name: 'main', profile });
  const store = await open({ envelope: clearEnvelope, signal });
  await tryStore(store);
  return store.name;
}

/** Lists, puts, gets and deletes; an error is that of the store, or says that what came back is something else. */
export async function tryStore(store: Store): Promise<void> {
  const name = randomBytes(8).toString('hex');
  const key = `${FOLDER}/${name}.json`;
  const text = JSON.stringify({ probe: name });
  await store.list(FOLDER);
  await store.write(key, text);
  try {
    if ((await store.read(key)) !== text) throw changed(store.name);
  } finally {
    await store.remove(key);
  }
}

function changed(name: string): UserError {
  return new UserError('storage_unreliable', `An object written to ${name} came back changed`, {
    hint: 'A proxy or an incompatible service changes objects.',
  });
}
