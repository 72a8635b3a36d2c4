import * as v from 'valibot';
import { codeDefinitionsSchema, type Definitions, definitionsSchema } from '../catalog/definitions/definitions.ts';
import type { MysqlSession } from '../connection/session.ts';
import { BASE, besideNames, OUTDATED, RETIRED } from '../server/names.ts';
import { databaseExists, destinationName, isEmpty } from '../server/server.ts';
import { readRecord } from '../swap/record.ts';

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
  /** Digest of the definitions of a spare's tables. */
  digest: v.optional(v.string()),
});

export interface BaseRecord extends Omit<v.InferOutput<typeof recordSchema>, 'definitions'> {
  definitions: Definitions;
}

export type RecordTable = typeof BASE | typeof OUTDATED | typeof RETIRED;

export async function readBaseRecord(
  server: MysqlSession,
  { database, table, of }: { database: string; table: RecordTable; of: string },
): Promise<BaseRecord | null> {
  const record = await readRecord(server, { database, table, schema: recordSchema });
  return record?.of === of ? record : null;
}

/**
 * Reports whether the name of a base copy or a spare is free, is used by one of this destination, or by another
 * database.
 */
export async function baseCopyState(
  server: MysqlSession,
  { database, of }: { database: string; of: string },
): Promise<'none' | 'whole' | 'remains' | 'stranger'> {
  if (!(await databaseExists(server, database))) return 'none';
  for (const table of [BASE, OUTDATED] as const) {
    if (await readBaseRecord(server, { database, table, of })) return 'whole';
  }
  if (await readBaseRecord(server, { database, table: RETIRED, of })) return 'remains';
  return (await isEmpty(server, database)) ? 'remains' : 'stranger';
}

/** Base copy and spare of the destination as they are found, by their names. */
export async function baseCopyNames(
  server: MysqlSession,
  destination: string,
): Promise<{ of: string; base: string; spare: string }> {
  const of = await destinationName(server, destination);
  const { base, spare } = besideNames(of);
  return { of, base, spare };
}
