import * as v from 'valibot';
import { type Details, readDetail } from './read-detail.ts';

/**
 * Returns the schema of tables that a snapshot holds as a definition only, because their rows are those of other tables
 * or are stored nowhere; `text` is the schema of a name.
 */
export function definitionsOnlySchema(text: v.GenericSchema<string>) {
  return v.array(
    v.object({
      table: text,
      engine: v.pipe(text, v.description("Storage engine in the server's words: `FEDERATED`, `MRG_MyISAM`.")),
      remote: v.pipe(v.boolean(), v.description('The rows are outside the database: created only on request.')),
    }),
  );
}

export type DefinitionOnly = v.InferOutput<ReturnType<typeof definitionsOnlySchema>>[number];

const recorded = definitionsOnlySchema(v.string());

/** The tables without rows of their own, by the manifest's details; none where an older version did not record them. */
export function definitionsOnlyOf(manifest: Details): DefinitionOnly[] {
  return readDetail(manifest, 'definitions_only', recorded) ?? [];
}
