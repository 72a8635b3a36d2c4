import type { Settings } from '../schema/settings.ts';
import type { Shape } from '../schema/shape.ts';
import { checkValues, type Draft } from './check-values.ts';
import type { KeyProblem } from './key-problem.ts';

/** Problems that only concern the commands that use the key: others run. */
const OF_ONE_COMMAND = new Set(['storage_profile_not_found', 'source_missing', 'destination_missing']);

/** Reports whether a problem concerns a storage profile or an operation, not the whole configuration. */
export function concernsOneCommand({ path, code }: KeyProblem): boolean {
  return isOfProfile(path) || OF_ONE_COMMAND.has(code);
}

/** Settings without the storage profiles that have an error; `null` when another value is not valid. */
export function withoutBrokenProfiles(
  { settings, draft, invalid }: { settings: Settings | null; draft: Draft; invalid: KeyProblem[] },
  { problems, shape }: { problems: KeyProblem[]; shape: Shape },
): Settings | null {
  const errors = problems.filter(({ path, severity }) => isOfProfile(path) && severity !== 'warning');
  const broken = new Set(errors.map(({ path }) => path[1]));
  if (broken.size === 0 || !invalid.every(({ path }) => isOfProfile(path))) return settings;
  const { storage_profiles = {} } = draft;
  const usable = Object.fromEntries(Object.entries(storage_profiles).filter(([name]) => !broken.has(name)));
  return checkValues({ ...draft, storage_profiles: usable }, shape).settings;
}

function isOfProfile(path: KeyProblem['path']): boolean {
  return path[0] === 'storage_profiles' && path.length > 1;
}
