import * as v from 'valibot';
import type { Manifest } from '../../snapshots/manifest.ts';
import { inventorySchema } from './catalogue.ts';

const detailsSchema = v.object({
  flavour: v.picklist(['mysql', 'mariadb']),
  database: v.string(),
  /** Collations that something in it is sorted by. */
  collations: v.array(v.string()),
  /** What in it only this flavour has. */
  features: v.array(v.string()),
  inventory: inventorySchema,
  /** What the rows of a file are: table, columns in order, and those that take text and no bytes. */
  data: v.record(v.string(), v.object({ table: v.string(), columns: v.array(v.string()), texts: v.array(v.string()) })),
});

/** What a snapshot of MySQL or MariaDB says of itself beyond what all snapshots say. */
export type Details = v.InferOutput<typeof detailsSchema>;

/** The file with everything but the rows. */
export const DEFINITIONS_FILE = 'definitions.json';

export function detailsOf(manifest: Manifest): Details {
  return v.parse(detailsSchema, manifest.details);
}
