import * as v from 'valibot';
import { sanitizeSchema } from './sanitize.ts';
import { shareSchema } from './share.ts';
import { snapshotSchema } from './snapshot.ts';
import { subsetSchema } from './subset.ts';
import { traits } from './traits.ts';
import { cores, storageProfile, text } from './values.ts';

export const targetSchema = v.strictObject({
  name: v.exactOptional(
    v.pipe(text, v.description('Displayed name.'), v.examples(['Application']), traits({ harmless: true })),
  ),
  cpus: v.exactOptional(v.pipe(cores, v.description('CPU cores for this target.'))),
  program: v.exactOptional(
    v.pipe(
      v.boolean(),
      v.description('Dumps with mysqldump instead of the driver (MySQL, MariaDB).'),
      v.examples([false]),
      traits({ effect: 'runs_program' }),
    ),
  ),
  storage_profile: v.exactOptional(
    v.pipe(storageProfile, v.description('Storage profile of pushes, of the file or the hub.')),
  ),
  snapshot: v.exactOptional(
    v.pipe(snapshotSchema, v.description('Database to build snapshots of, and to load them into.')),
  ),
  sanitize: v.exactOptional(v.pipe(sanitizeSchema, v.description('Sanitization by an SQL query.'))),
  subset: v.exactOptional(v.pipe(subsetSchema, v.description('Smaller database without dangling references.'))),
  share: v.exactOptional(v.pipe(shareSchema, v.description('Loads of snapshots from a bucket.'))),
  allow_destination_of: v.exactOptional(
    v.pipe(
      v.array(v.pipe(text, traits({ effect: 'allows' }))),
      v.description("Targets that may load into this target's source."),
      v.examples([[]]),
    ),
  ),
  sso_groups: v.exactOptional(
    v.pipe(v.array(text), v.description('Groups with which the target is shared.'), v.examples([['developers']])),
  ),
});
