import * as v from 'valibot';
import { EXIT, UserError } from '../../errors.ts';
import { type MysqlDetails, mysqlDetails } from '../../snapshots/details/mysql-details.ts';
import type { Manifest } from '../../snapshots/manifest.ts';

/** What a snapshot of MySQL or MariaDB says of itself beyond what all snapshots say. */
export type Details = MysqlDetails;

export const detailsSchema = mysqlDetails(v.string());

/** The file with everything but the rows. */
export const DEFINITIONS_FILE = 'definitions.json';

/** What the manifest says of the database; a UserError when some of it is missing. */
export function detailsOf(manifest: Manifest): Details {
  const { success, output } = v.safeParse(detailsSchema, manifest.details);
  if (success) return output;
  throw new UserError(`Snapshot ${manifest.id} of ${manifest.target} was written by another version of this program`, {
    code: 'manifest_not_understood',
    exit: EXIT.failed,
    hint: 'Update the program, or take a new snapshot: tool build',
  });
}
