import * as v from 'valibot';

/** A table that a snapshot holds as a definition only, because its rows are those of other tables or are kept nowhere. */
export interface DefinitionOnly {
  table: string;
  /** As the server calls it: `FEDERATED`, `MRG_MyISAM`. */
  engine: string;
  /** Whether the rows are outside the database: created only on request. */
  remote: boolean;
}

/** As they stand in a manifest's details; `text` is what a name in it may be. */
export function definitionsOnlySchema(text: v.GenericSchema<string>) {
  return v.array(v.object({ table: text, engine: text, remote: v.boolean() }));
}

const recorded = v.object({ definitions_only: definitionsOnlySchema(v.string()) });

/** The tables without rows of their own, by the manifest's details; none where an older version did not record them. */
export function definitionsOnlyOf({ details }: { details: Record<string, unknown> }): DefinitionOnly[] {
  const { success, output } = v.safeParse(recorded, details);
  return success ? output.definitions_only : [];
}
