import * as v from 'valibot';
import { codeDefinitionsSchema, type Definitions, definitionsSchema } from '../../catalog/definitions/definitions.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { histogramSchema } from '../../details-schema.ts';
import { baseContentsSchema } from '../../restore/difference/contents.ts';
import { BASE, OUTDATED, RETIRED } from '../../server/names.ts';
import { databaseExists, isEmpty } from '../../server/server.ts';
import { readRecord } from '../../swap/record.ts';

const { dangling, defaults } = codeDefinitionsSchema.entries;

/** Record of a base copy or a spare, in a table of its own. */
const recordSchema = v.object({
  of: v.string(),
  /** Equal for a base copy and its spares. */
  id: v.string(),
  snapshot: v.nullable(v.string()),
  loaded_at: v.string(),
  partial: v.boolean(),
  /** Definitions of the destination after the load: the base copy has rows only. */
  definitions: v.object({ ...definitionsSchema.entries, dangling, defaults }),
  definers: v.picklist(['mine', 'theirs']),
  histograms: v.optional(v.array(histogramSchema(v.string()))),
  /** Time when the tables were read, by the server's clock. */
  read_at: v.string(),
  tables: v.array(
    v.object({
      name: v.string(),
      rows: v.number(),
      checksum: v.nullable(v.string()),
      updated: v.nullable(v.string()),
    }),
  ),
  contents: v.exactOptional(baseContentsSchema),
  /** Digest of the definitions of a spare's tables. */
  digest: v.optional(v.string()),
});

export interface BaseRecord extends Omit<v.InferOutput<typeof recordSchema>, 'definitions'> {
  definitions: Definitions;
}

export async function readBaseRecord(
  server: MysqlSession,
  { database, table, of }: { database: string; table: typeof BASE | typeof OUTDATED | typeof RETIRED; of: string },
): Promise<BaseRecord | null> {
  const record = await readRecord(server, { database, table, schema: recordSchema });
  return record?.of === of ? record : null;
}

/** The record of a base copy, in the table that says whether it is of the present destination or of a former one. */
export async function findBaseRecord(server: MysqlSession, { database, of }: { database: string; of: string }) {
  for (const table of [BASE, OUTDATED] as const) {
    const record = await readBaseRecord(server, { database, table, of });
    if (record) return { table, record };
  }
  return null;
}

/**
 * Reports whether the name of a base copy or a spare is free, is used by one of this destination, or by another
 * database.
 */
export async function baseCopyState(server: MysqlSession, { database, of }: { database: string; of: string }) {
  if (!(await databaseExists(server, database))) return 'none';
  if (await findBaseRecord(server, { database, of })) return 'whole';
  if (await readBaseRecord(server, { database, table: RETIRED, of })) return 'remains';
  return (await isEmpty(server, database)) ? 'remains' : 'foreign';
}
