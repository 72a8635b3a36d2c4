import * as v from 'valibot';
import { destinationUrl, storageProfile } from './values.ts';

export const shareSchema = v.strictObject({
  dst_url: v.exactOptional(
    v.pipe(
      destinationUrl,
      v.description('Destination of loads.'),
      v.examples(['postgres://localhost:5432/app_shared']),
    ),
  ),
  storage_profile_name: v.exactOptional(
    v.pipe(storageProfile, v.description('Storage profile with the snapshots, of the file or the hub.')),
  ),
});
