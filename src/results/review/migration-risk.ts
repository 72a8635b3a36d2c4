import * as v from 'valibot';
import { describe, number, orNull, text } from '../fields.ts';

/** A statement of a migration that is dangerous under load, found by a rule. */
export const migrationRisk = v.object({
  code: describe(text, 'The rule, as in docs/rehearsal-rules.md: `index_not_concurrent`.'),
  table: describe(orNull(text), '`schema.table`; `null` where the statement names none.'),
  index: describe(number, 'Index of the statement in the list of the rehearsal, from 0.'),
  statement: describe(text, 'The single statement, on one line, shortened.'),
  text: describe(text, 'What happens under load.'),
  safer: describe(text, 'The safer form.'),
  url: describe(text, "The server's documentation."),
});

export type MigrationRisk = v.InferOutput<typeof migrationRisk>;
