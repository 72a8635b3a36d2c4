import * as v from 'valibot';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { UserError } from '../../runtime/errors.ts';

/** A UserError when parts are missing. */
export function parseDetails<Details>(schema: v.GenericSchema<unknown, Details>, manifest: Manifest): Details {
  const { success, output } = v.safeParse(schema, manifest.details);
  if (success) return output;
  throw new UserError(
    'manifest_not_understood',
    `Snapshot ${manifest.id} of ${manifest.target} was written by another version of this program`,
    { hint: 'Update the program, or build a new snapshot: tool build' },
  );
}
