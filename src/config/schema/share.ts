import * as v from 'valibot';
import { optionalKey } from './key.ts';
import { destinationUrl, storageProfile } from './values.ts';

export const shareSchema = v.strictObject({
  dst_url: optionalKey(destinationUrl, 'Destination of loads.', { example: 'postgres://localhost:5432/app_shared' }),
  storage_profile_name: optionalKey(storageProfile, 'Storage profile with the snapshots, of the file or the hub.'),
});
