import { nearest } from '../../text/nearest.ts';
import { shell } from '../../text/shell-word.ts';
import type { AwsProfile } from '../aws-profiles.ts';
import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { FOLDER } from '../schema/storage-providers.ts';
import { isHostLabel } from '../schema/values.ts';
import { ADVICE, profilesOf, type RuleContext } from './rule.ts';

/** Other sources of credentials of the S3 client: each of them is sufficient. */
const VARIABLES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];

/** Only push and pull need credentials, so these are warnings. */
export function storageCredentialsAreKept(draft: Draft, surroundings: RuleContext): KeyProblem[] {
  const { environment, awsProfiles, isWritten } = surroundings;
  const isInEnvironment = VARIABLES.some((name) => environment[name]) || awsProfiles.get('default')?.hasCredentials;
  return profilesOf(draft).flatMap(([name, { provider, cli_profile, role_arn }]): KeyProblem[] => {
    if (provider === FOLDER) return [];
    const path = ['storage_profiles', name];
    const direct = ['access_key', 'secret_key'].filter((key) => isWritten([...path, key]));
    if (cli_profile !== undefined) {
      const unknown = awsProfiles.has(cli_profile) ? [] : [unknownProfile({ name, cli_profile }, surroundings)];
      return [...unknown, ...(direct.length > 0 ? [cliProfileWins({ name, cli_profile }, direct)] : [])];
    }
    // A single key of the two is already an error.
    if (direct.length > 0) return direct.length === 2 ? [heldDirectly(name)] : [];
    // A role needs the sign-in only.
    const isElsewhere = isInEnvironment || role_arn !== undefined;
    return isElsewhere || isWritten([...path, 'cli_profile']) ? [] : [notFound(name)];
  });
}

/** Region and address of a CLI profile become part of a URL. */
export function* cliProfilesAreUsable(draft: Draft, surroundings: RuleContext): Generator<KeyProblem> {
  const { awsProfiles, isWritten } = surroundings;
  for (const [name, { cli_profile: profile }] of profilesOf(draft)) {
    const found = profile === undefined ? undefined : awsProfiles.get(profile);
    const says = found && wrongValue(found, isWritten(['storage_profiles', name, 'region']));
    if (!says) continue;
    yield {
      path: ['storage_profiles', name, 'cli_profile'],
      code: 'cli_profile_invalid',
      message: `storage profile '${name}' uses the cli_profile '${profile}', whose ${says}`,
      hint: `Correct it in the client's own files: ${shell`aws configure --profile ${profile ?? ''}`}`,
    };
  }
}

function wrongValue({ region, endpoint }: AwsProfile, regionIsWritten: boolean): string | null {
  if (endpoint !== undefined && !URL.canParse(endpoint)) return 'endpoint_url is not a valid URL';
  if (region === undefined || regionIsWritten || isHostLabel(region)) return null;
  return `region ${JSON.stringify(region)} is not valid`;
}

function unknownProfile(
  { name, cli_profile: profile }: { name: string; cli_profile: string },
  { environment, awsProfiles }: RuleContext,
): KeyProblem {
  const near = nearest(profile, [...awsProfiles.keys()]);
  const { AWS_CONFIG_FILE = '~/.aws/config', AWS_SHARED_CREDENTIALS_FILE = '~/.aws/credentials' } = environment;
  return {
    path: ['storage_profiles', name, 'cli_profile'],
    severity: 'warning',
    code: 'cli_profile_not_found',
    message: `storage profile '${name}' uses the cli_profile '${profile}', which is neither in ${AWS_CONFIG_FILE} nor in ${AWS_SHARED_CREDENTIALS_FILE}`,
    hint:
      near === null
        ? `Make it: ${shell`aws configure --profile ${profile}`}`
        : `Did you mean ${near}? Or make it: ${shell`aws configure --profile ${profile}`}`,
  };
}

function cliProfileWins({ name, cli_profile }: { name: string; cli_profile: string }, direct: string[]): KeyProblem {
  return {
    path: ['storage_profiles', name, direct[0] ?? ''],
    ...ADVICE,
    code: 'cli_profile_wins',
    message: `storage profile '${name}' ignores ${direct.join(' and ')}: the credentials of cli_profile '${cli_profile}' are used`,
    hint: 'Remove one of them.',
  };
}

function heldDirectly(name: string): KeyProblem {
  return {
    path: ['storage_profiles', name, 'access_key'],
    ...ADVICE,
    code: 'direct_credentials',
    message: `storage profile '${name}' contains its credentials, which is not recommended for production`,
    hint: 'Keep them in a profile of the command-line client (aws configure) and name it with cli_profile.',
  };
}

function notFound(name: string): KeyProblem {
  return {
    path: ['storage_profiles', name],
    ...ADVICE,
    code: 'credentials_not_found',
    message: `storage profile '${name}' has no credentials, and there are none in the environment`,
    hint: `Set cli_profile, or access_key and secret_key. Looked for the variables ${VARIABLES.join(', ')} and for credentials of the profile default in ~/.aws. On a cloud machine its role is used.`,
  };
}
