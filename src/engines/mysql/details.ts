import * as v from 'valibot';
import type { Manifest } from '../../repository/manifest.ts';
import { parseDetails } from '../shared/manifest-details.ts';
import { type MysqlDetails, mysqlDetails } from './manifest-details.ts';

/** What a snapshot of MySQL or MariaDB says of itself beyond what all snapshots say. */
export type Details = MysqlDetails;

export const detailsSchema = mysqlDetails(v.string());

/** The file with everything but the rows. */
export const DEFINITIONS_FILE = 'definitions.json';

/** What the manifest says of the database; a UserError when some of it is missing. */
export function detailsOf(manifest: Manifest): Details {
  return parseDetails(detailsSchema, manifest);
}
