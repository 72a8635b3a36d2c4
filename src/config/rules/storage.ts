import { nearest } from '../../text/nearest.ts';
import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { FOLDER, STORAGE_PROVIDERS } from '../schema/storage-providers.ts';
import type { KeyPath } from '../tree.ts';
import { ADVICE, type ProfileDraft, profilesOf, type RuleContext, targetsOf } from './rule.ts';

export function storageProfilesExist(draft: Draft, { isWritten }: RuleContext): KeyProblem[] {
  // The hub has storage profiles as well, which are looked for when the target is used.
  const hasAddress = (['base_url', 'staging_api_url', 'dev_api_url'] as const).some((key) => isWritten([key]));
  if (hasAddress && isWritten(['authtoken'])) return [];
  const known = Object.keys(draft.storage_profiles ?? {});
  return targetsOf(draft).flatMap(([name, target]) => {
    const references: [string | undefined, KeyPath][] = [
      [target.storage_profile, ['storage_profile']],
      [target.sanitize?.storage_profile, ['sanitize', 'storage_profile']],
      [target.share?.storage_profile_name, ['share', 'storage_profile_name']],
    ];
    return references.flatMap(([profile, path]): KeyProblem[] => {
      if (profile === undefined || isWritten(['storage_profiles', profile])) return [];
      return [
        {
          path: ['targets', name, ...path],
          code: 'storage_profile_not_found',
          message: `storage profile '${profile}' not found`,
          hint: hintFor(profile, known),
        },
      ];
    });
  });
}

export function encryptedBucketsHaveKeys(draft: Draft, { isWritten }: RuleContext): KeyProblem[] {
  if (isWritten(['secret_key'])) return [];
  return profilesOf(draft).flatMap(([name, { encrypt }]): KeyProblem[] => {
    if (!encrypt || isWritten(['storage_profiles', name, 'encryption_key'])) return [];
    return [
      {
        path: ['storage_profiles', name, 'encrypt'],
        code: 'missing_key',
        message: `storage profile '${name}' is encrypted, and there is neither an encryption_key nor a secret_key`,
        hint: 'Set its encryption_key: openssl rand -hex 16 generates one.',
      },
    ];
  });
}

function hintFor(profile: string, known: string[]): string {
  if (known.length === 0) return 'Define it below storage_profiles.';
  const name = nearest(profile, known);
  if (name === null) return `Defined below storage_profiles: ${known.join(', ')}.`;
  return `Did you mean ${name}? Profiles are defined below storage_profiles.`;
}

/** The keys of a storage profile that is a folder. */
const OF_FOLDERS = new Set(['provider', 'path', 'encrypt', 'encryption_key']);

/** A bucket or a path is required; a key of the other kind of storage has no effect. */
function keysOfProvider(
  name: string,
  { provider, ...keys }: ProfileDraft,
  lacks: (key: keyof ProfileDraft) => boolean,
): KeyProblem[] {
  const isFolder = provider === FOLDER || (provider === undefined && !lacks('path'));
  const isOther = (key: string): boolean => (isFolder ? !OF_FOLDERS.has(key) : key === 'path');
  const others = provider === undefined ? [] : Object.keys(keys).filter(isOther);
  const required = isFolder ? 'path' : 'bucket';
  return [
    ...(lacks(required) ? [{ ...missingKey[required], path: ['storage_profiles', name, required] }] : []),
    ...others.map(
      (at): KeyProblem => ({
        path: ['storage_profiles', name, at],
        ...ADVICE,
        code: 'storage_key_unused',
        message: `storage profile '${name}' ignores ${at}: it is no key of the provider ${provider}`,
        hint: 'Remove the key, or change the provider.',
      }),
    ),
  ];
}

const missingKey = {
  bucket: { code: 'missing_key', message: { says: 'is missing' }, hint: 'Name of the bucket.' },
  path: { code: 'missing_key', message: { says: 'is missing' }, hint: 'Set the folder, such as /mnt/nas/snapshots.' },
} as const;

export function storageProfilesAreComplete(draft: Draft, { awsProfiles, isWritten }: RuleContext): KeyProblem[] {
  return profilesOf(draft).flatMap(([name, profile]) => {
    const lacks = (key: keyof ProfileDraft): boolean => !isWritten(['storage_profiles', name, key]);
    const incomplete = (at: string, missing: string, hint: string): KeyProblem => ({
      path: ['storage_profiles', name, at],
      at: 'key',
      code: 'storage_profile_incomplete',
      message: `storage profile '${name}' needs ${missing}`,
      hint,
    });
    const problems: KeyProblem[] = [];
    const { provider } = profile;
    problems.push(...keysOfProvider(name, profile, lacks));
    if (provider === FOLDER) return problems;
    // The CLI profile may also contain them.
    const elsewhere: Partial<ProfileDraft> = awsProfiles.get(profile.cli_profile ?? '') ?? {};
    if (
      provider &&
      STORAGE_PROVIDERS[provider].needs.oneOf.every((key) => lacks(key) && elsewhere[key] === undefined)
    ) {
      const { oneOf, hint } = STORAGE_PROVIDERS[provider].needs;
      problems.push(incomplete('provider', `${oneOf.join(' or ')}, since its provider is ${provider}`, hint));
    }
    const pair = 'The two are used together. Or leave both out, and name a cli_profile.';
    if (!lacks('access_key') && lacks('secret_key')) {
      problems.push(incomplete('access_key', 'secret_key beside access_key', pair));
    }
    if (!lacks('secret_key') && lacks('access_key')) {
      problems.push(incomplete('secret_key', 'access_key beside secret_key', pair));
    }
    return problems;
  });
}
