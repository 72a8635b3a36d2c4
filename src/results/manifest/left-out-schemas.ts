import * as v from 'valibot';
import { type Details, readDetail } from './read-detail.ts';

/** A schema of the source that is not in a snapshot, since `schema_config` leaves it out, and the number of its tables. */
export const leftOutSchemas = v.array(
  v.object({
    schema: v.string(),
    tables: v.number(),
    bytes: v.optional(
      v.pipe(v.number(), v.description('Of tables with data, where nobody chose the schemas. Absent: none.')),
    ),
  }),
);

export type LeftOutSchema = v.InferOutput<typeof leftOutSchemas>[number];

/** The schemas that a snapshot leaves out, by its manifest's details; `null` where an older version did not record them. */
export function leftOutSchemasOf(manifest: Details): LeftOutSchema[] | null {
  return readDetail(manifest, 'left_out_schemas', leftOutSchemas);
}

/** Each schema with the number of its tables, out of the tables of the whole database; `lost`: those with data that no setting excludes. */
export function countLeftOut(
  schemas: string[],
  tables: { schema: string }[],
  lost: { schema: string; bytes: number }[],
): LeftOutSchema[] {
  const ofSchema = Map.groupBy(tables, ({ schema }) => schema);
  return schemas.map((schema) => {
    const bytes = lost.filter((table) => table.schema === schema).reduce((sum, table) => sum + table.bytes, 0);
    return { schema, tables: ofSchema.get(schema)?.length ?? 0, ...(bytes > 0 && { bytes }) };
  });
}
