import * as v from 'valibot';
import { optionalKey } from './key.ts';
import { sanitizeSchema } from './sanitize.ts';
import { snapshotSchema } from './snapshot.ts';
import { subsetSchema } from './subset.ts';
import { traits } from './traits.ts';
import { cores, destinationUrl, storageProfile, text } from './values.ts';

const shareSchema = v.strictObject({
  dst_url: optionalKey(destinationUrl, 'Destination of loads.', { example: 'postgres://localhost:5432/app_shared' }),
  storage_profile_name: optionalKey(storageProfile, 'Storage profile with the snapshots, of the file or the hub.'),
});

export const targetSchema = v.strictObject({
  name: optionalKey(text, 'Displayed name.', { example: 'Application', harmless: true }),
  cpus: optionalKey(cores, 'CPU cores for this target.'),
  program: optionalKey(v.boolean(), 'Dumps with mysqldump instead of the driver (MySQL, MariaDB).', {
    example: false,
    effect: 'runs_program',
  }),
  storage_profile: optionalKey(storageProfile, 'Storage profile of pushes, of the file or the hub.'),
  snapshot: optionalKey(snapshotSchema, 'Database to build snapshots of, and to load them into.'),
  sanitize: optionalKey(sanitizeSchema, 'Sanitization by an SQL query.'),
  subset: optionalKey(subsetSchema, 'Smaller database without dangling references.'),
  image: optionalKey(v.boolean(), 'Makes images, and pushes those of sanitized snapshots (PostgreSQL).', {
    example: false,
  }),
  share: optionalKey(shareSchema, 'Loads of snapshots from a bucket.'),
  allow_destination_of: optionalKey(
    v.array(v.pipe(text, traits({ effect: 'allows' }))),
    "Targets that may load into this target's source.",
    { example: [] },
  ),
  sso_groups: optionalKey(v.array(text), 'Groups with which the target is shared.', { example: ['developers'] }),
});
