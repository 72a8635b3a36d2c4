import { closest } from 'fastest-levenshtein';
import type { Draft } from '../check-values.ts';
import type { Finding } from '../finding.ts';
import type { KeyPath } from '../tree.ts';
import { type Surroundings, targetsOf } from './rule.ts';

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

export function storageProfilesAreComplete(draft: Draft, { awsProfiles }: Surroundings): Finding[] {
  return profilesOf(draft).flatMap(([name, profile]) => {
    const incomplete = (key: string, missing: string): Finding => ({
      path: ['storage_profiles', name, key],
      at: 'key',
      code: 'storage_profile_incomplete',
      message: `storage profile '${name}' needs ${missing}`,
      hint: 'docs/configuration.md lists what each provider needs.',
    });
    const findings: Finding[] = [];
    const oneOf = profile.provider ? NEEDS[profile.provider].oneOf : [];
    const endpoint = profile.endpoint ?? awsProfiles.get(profile.cli_profile ?? '')?.endpointUrl ?? undefined;
    const known = { ...profile, endpoint };
    if (oneOf.length > 0 && oneOf.every((key) => known[key] === undefined)) {
      findings.push(incomplete('provider', `${oneOf.join(' or ')}, since its provider is ${profile.provider}`));
    }
    if (profile.access_key !== undefined && profile.secret_key === undefined) {
      findings.push(incomplete('access_key', 'secret_key beside access_key'));
    }
    if (profile.secret_key !== undefined && profile.access_key === undefined) {
      findings.push(incomplete('secret_key', 'access_key beside secret_key'));
    }
    return findings;
  });
}

/** Where the S3 client finds credentials when the profile names none, each sign of it enough. */
const CREDENTIAL_VARIABLES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];

/** Credentials are the business of who pushes and pulls, so what is odd about them is a warning. */
export function storageCredentialsAreKept(draft: Draft, { environment, awsProfiles }: Surroundings): Finding[] {
  return profilesOf(draft).flatMap(([name, { cli_profile, access_key, secret_key }]): Finding[] => {
    const warning = { path: ['storage_profiles', name], severity: 'warning', at: 'key' } as const;
    if (cli_profile !== undefined) {
      if (awsProfiles.has(cli_profile)) return [];
      const known = [...awsProfiles.keys()];
      return [
        {
          ...warning,
          path: [...warning.path, 'cli_profile'],
          at: 'value',
          code: 'cli_profile_not_found',
          message: `storage profile '${name}' takes its credentials from the profile '${cli_profile}', which is not there`,
          hint:
            known.length > 0
              ? `Did you mean ${closest(cli_profile, known)}? They are in ~/.aws/config and ~/.aws/credentials.`
              : `Make it: aws configure --profile ${cli_profile}`,
        },
      ];
    }
    if (access_key !== undefined && secret_key !== undefined) {
      return [
        {
          ...warning,
          path: [...warning.path, 'access_key'],
          code: 'direct_credentials',
          message: `storage profile '${name}' holds its credentials itself, which is not recommended for production`,
          hint: 'Keep them in a profile of the command-line client, and name it with cli_profile.',
        },
      ];
    }
    const isFound = awsProfiles.has('default') || CREDENTIAL_VARIABLES.some((variable) => environment[variable]);
    if (isFound || access_key !== undefined || secret_key !== undefined) return [];
    return [
      {
        ...warning,
        code: 'credentials_not_found',
        message: `storage profile '${name}' names no credentials, and there are none in the environment`,
        hint: 'Set cli_profile, or access_key and secret_key, or AWS_ACCESS_KEY_ID; on a cloud machine its role is used.',
      },
    ];
  });
}

function profilesOf(draft: Draft): [string, ProfileDraft][] {
  return Object.entries(draft.storage_profiles ?? {}).flatMap(([name, profile]) => (profile ? [[name, profile]] : []));
}
