import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { targetsOf } from './rule.ts';

/** Warns when unsanitized snapshots are pushed to a profile that share targets read. */
export function* originalsAreNotShared(draft: Draft): Generator<KeyProblem> {
  for (const [name, { snapshot, storage_profile }] of targetsOf(draft)) {
    const message = snapshot?.src_url === undefined ? null : sharedOriginals(draft, storage_profile);
    if (message === null) continue;
    const path = ['targets', name, 'storage_profile'];
    yield { path, severity: 'warning', code: 'originals_shared', message, hint: ORIGINALS_HINT };
  }
}

export const ORIGINALS_HINT =
  'Push originals to a profile of their own: set sanitize.storage_profile to the shared one, storage_profile to another.';

/** The share targets that read the unsanitized snapshots of a storage profile, as a sentence; `null` for none. */
export function sharedOriginals(
  draft: Pick<Draft, 'targets' | 'storage_profiles'>,
  profile: string | undefined,
): string | null {
  if (profile === undefined) return null;
  const place = placeOf(draft, profile);
  const seeing = targetsOf(draft).flatMap(([name, { share }]) =>
    share?.storage_profile_name !== undefined && placeOf(draft, share.storage_profile_name) === place ? [name] : [],
  );
  if (seeing.length === 0) return null;
  const who = seeing.length === 1 ? `share target '${seeing[0]}' reads` : `share targets '${seeing.join("', '")}' read`;
  return `unsanitized snapshots are pushed to storage profile '${profile}', which ${who}`;
}

/** Two profiles may be the same bucket or folder. */
export function placeOf({ storage_profiles = {} }: Pick<Draft, 'storage_profiles'>, name: string): string {
  const profile = Object.hasOwn(storage_profiles, name) ? storage_profiles[name] : undefined;
  if (profile?.path) return JSON.stringify([profile.provider, profile.path.replace(/[/\\]+$/, '')]);
  if (!profile?.bucket) return JSON.stringify(name);
  const { provider, bucket, endpoint, account_id, prefix = '' } = profile;
  return JSON.stringify([provider, endpoint ?? account_id, bucket, prefix.replace(/^\/+|\/+$/g, '')]);
}
