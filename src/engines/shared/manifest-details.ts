import * as v from 'valibot';
import type { Manifest } from '../../repository/manifest.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';

/** What a manifest says beyond what all do, as its engine wrote it; a UserError when some of it is missing. */
export function parseDetails<Details>(schema: v.GenericSchema<unknown, Details>, manifest: Manifest): Details {
  const { success, output } = v.safeParse(schema, manifest.details);
  if (success) return output;
  throw new UserError(`Snapshot ${manifest.id} of ${manifest.target} was written by another version of this program`, {
    code: 'manifest_not_understood',
    exit: EXIT.failed,
    hint: 'Update the program, or take a new snapshot: tool build',
  });
}
