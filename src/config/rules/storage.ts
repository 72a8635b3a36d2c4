import { closest } from 'fastest-levenshtein';
import type { Draft } from '../check-values.ts';
import type { Finding } from '../finding.ts';
import type { KeyPath } from '../tree.ts';
import { targetsOf } from './rule.ts';

export function storageProfilesExist(draft: Draft): Finding[] {
  const known = Object.keys(draft.storage_profiles ?? {});
  return targetsOf(draft).flatMap(([name, target]) => {
    const references: [string | undefined, KeyPath][] = [
      [target.storage_profile, ['storage_profile']],
      [target.sanitize?.storage_profile, ['sanitize', 'storage_profile']],
      [target.share?.storage_profile_name, ['share', 'storage_profile_name']],
    ];
    return references.flatMap(([profile, path]): Finding[] => {
      if (profile === undefined || known.includes(profile)) return [];
      return [
        {
          path: ['targets', name, ...path],
          code: 'storage_profile_not_found',
          message: `storage profile '${profile}' not found`,
          hint:
            known.length > 0
              ? `Did you mean ${closest(profile, known)}? Profiles are defined below storage_profiles.`
              : 'Define it below storage_profiles.',
        },
      ];
    });
  });
}

type ProfileDraft = NonNullable<NonNullable<Draft['storage_profiles']>[string]>;

/** What each provider cannot do without. */
const NEEDS: Record<NonNullable<ProfileDraft['provider']>, { oneOf: (keyof ProfileDraft)[] }> = {
  s3: { oneOf: ['region'] },
  r2: { oneOf: ['account_id', 'endpoint'] },
  minio: { oneOf: ['endpoint'] },
  dospaces: { oneOf: ['endpoint'] },
};

export function storageProfilesAreComplete(draft: Draft): Finding[] {
  return Object.entries(draft.storage_profiles ?? {}).flatMap(([name, profile]) => {
    if (!profile) return [];
    const incomplete = (key: string, missing: string): Finding => ({
      path: ['storage_profiles', name, key],
      at: 'key',
      code: 'storage_profile_incomplete',
      message: `storage profile '${name}' needs ${missing}`,
      hint: 'docs/configuration.md lists what each provider needs.',
    });
    const findings: Finding[] = [];
    const oneOf = profile.provider ? NEEDS[profile.provider].oneOf : [];
    if (oneOf.length > 0 && oneOf.every((key) => profile[key] === undefined)) {
      findings.push(incomplete('provider', `${oneOf.join(' or ')}, since its provider is ${profile.provider}`));
    }
    // Neither is fine: the credentials may come from cli_profile or from the provider's own variables.
    if (profile.access_key !== undefined && profile.secret_key === undefined) {
      findings.push(incomplete('access_key', 'secret_key beside access_key'));
    }
    if (profile.secret_key !== undefined && profile.access_key === undefined) {
      findings.push(incomplete('secret_key', 'access_key beside secret_key'));
    }
    return findings;
  });
}
