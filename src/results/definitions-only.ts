import * as v from 'valibot';

/** A table that a snapshot holds as a definition only, because its rows are those of other tables or are kept nowhere. */
export interface DefinitionOnly {
  table: string;
  /** Storage engine in the server's words: `FEDERATED`, `MRG_MyISAM`. */
  engine: string;
  /** The rows are outside the database: created only on request. */
  remote: boolean;
}

/** Returns the schema of such tables in a manifest's details; `text` is the schema of a name. */
export function definitionsOnlySchema(text: v.GenericSchema<string>) {
  return v.array(v.object({ table: text, engine: text, remote: v.boolean() }));
}

const recorded = v.object({ definitions_only: definitionsOnlySchema(v.string()) });

/** The tables without rows of their own, by the manifest's details; none where an older version did not record them. */
export function definitionsOnlyOf({ details }: { details: Record<string, unknown> }): DefinitionOnly[] {
  const { success, output } = v.safeParse(recorded, details);
  return success ? output.definitions_only : [];
}
