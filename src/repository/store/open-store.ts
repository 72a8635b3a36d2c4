import type { Envelope } from '../encryption/envelope.ts';
import type { Credentials } from '../s3/client.ts';
import { bucketOf, isFolder, type StorageProfile } from '../s3/connection.ts';
import { openSharedFolder } from './shared-folder.ts';
import type { Store } from './store.ts';

export interface StoreLocation {
  /** Name of the storage profile. */
  name: string;
  profile: StorageProfile;
  credentials?: Credentials | undefined;
  /** The working directory, which a folder must not overlap. */
  directory?: string | undefined;
}

export type OpenStore = (options: { envelope: Envelope; signal: AbortSignal }) => Promise<Store>;

/** Returns what opens the stores of a storage profile. All stores of a bucket share one client. */
export async function storeOpener({ name, profile, credentials, directory }: StoreLocation): Promise<OpenStore> {
  if (isFolder(profile)) {
    const { path } = profile;
    return async ({ envelope }) => openSharedFolder({ profile: name, path, envelope, workingDirectory: directory });
  }
  const bucket = bucketOf(profile);
  const [{ createS3Client }, { createS3Store }] = await Promise.all([
    import('../s3/client.ts'),
    import('../s3/store.ts'),
  ]);
  const client = await createS3Client(bucket, credentials);
  return (options) => createS3Store({ name, profile: bucket, client, ...options });
}
