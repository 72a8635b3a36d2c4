import * as v from 'valibot';
import { sanitizeSchema } from './sanitize.ts';
import { shareSchema } from './share.ts';
import { snapshotSchema } from './snapshot.ts';
import { subsetSchema } from './subset.ts';
import { traits } from './traits.ts';
import { cores, storageProfile, text } from './values.ts';

export const targetSchema = v.strictObject({
  name: v.exactOptional(
    v.pipe(text, v.description('Name to show.'), v.examples(['Application']), traits({ harmless: true })),
  ),
  cpus: v.exactOptional(v.pipe(cores, v.description('CPU cores for this target; wins over defaults.cpus.'))),
  program: v.exactOptional(
    v.pipe(
      v.boolean(),
      v.description("Dumps with the server's own mysqldump instead of the driver (MySQL, MariaDB)."),
      v.examples([false]),
      traits({ effect: 'runs_program' }),
    ),
  ),
  storage_profile: v.exactOptional(
    v.pipe(storageProfile, v.description('Storage profile that snapshots are pushed to: of the file, or of the hub.')),
  ),
  snapshot: v.exactOptional(v.pipe(snapshotSchema, v.description('Takes snapshots of a database and loads them.'))),
  sanitize: v.exactOptional(v.pipe(sanitizeSchema, v.description('Removes sensitive data by an SQL query.'))),
  subset: v.exactOptional(v.pipe(subsetSchema, v.description('Makes a smaller database whose references are whole.'))),
  share: v.exactOptional(v.pipe(shareSchema, v.description('Loads snapshots that the team keeps in cloud storage.'))),
  allow_destination_of: v.exactOptional(
    v.pipe(
      v.array(v.pipe(text, traits({ effect: 'allows' }))),
      v.description("Targets that may load into this target's source; any other load into a source is refused."),
      v.examples([[]]),
    ),
  ),
  sso_groups: v.exactOptional(
    v.pipe(v.array(text), v.description('SSO groups the target is shared with.'), v.examples([['developers']])),
  ),
});
