import { type AwsProfile, readAwsProfiles } from '../../config/aws-profiles.ts';
import type { Draft } from '../../config/check-values.ts';
import { NOWHERE } from '../../config/configuration.ts';
import { type ProfileDraft, profilesOf } from '../../config/rules/rule.ts';
import type { Settings } from '../../config/schema/settings.ts';
import { STORAGE_PROVIDERS } from '../../config/schema/storage-providers.ts';
import { createS3Store } from '../../repository/s3/store.ts';
import type { Problem, StorageState } from '../../results/configuration-results.ts';
import { toUserError, type UserError } from '../../runtime/errors.ts';
import { reach } from './reach.ts';

export interface StorageRequest {
  draft: Draft;
  /** Valid ones. */
  profiles: Settings['storage_profiles'];
  problems: Problem[];
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
  offline: boolean;
}

export interface ReachedStorage {
  states: StorageState[];
  /** Buckets that do not exist. */
  missing: Problem[];
}

/** Asks the service of each complete storage profile, and whether the bucket exists where there are credentials. */
export async function reachStorage({ draft, profiles, problems, ...request }: StorageRequest): Promise<ReachedStorage> {
  const awsProfiles = await readAwsProfiles(request.environment);
  const missing: Problem[] = [];
  const states = await Promise.all(
    profilesOf(draft).map(async ([name, profile]): Promise<StorageState> => {
      const key = `storage_profiles.${name}`;
      const own = problems.filter((problem) => `${problem.key}.`.startsWith(`${key}.`));
      const complete = !own.some(({ severity }) => severity === 'error');
      const url = complete ? endpointOf(profile, awsProfiles.get(profile.cli_profile ?? '')) : null;
      const { provider = null, bucket = null } = profile;
      const answer = url === null ? { url, ok: null, error: null } : await reach(url, request);
      const found = { name, provider, bucket, complete, ...answer };
      const settings = profiles[name];
      const canAsk = answer.ok && settings && !own.some(({ code }) => WITHOUT_CREDENTIALS.has(code));
      const error = canAsk ? await missingBucket(name, settings, request) : null;
      if (error === null) return found;
      const { message, hint = null } = error;
      missing.push({ severity: 'error', code: error.code, key: `${key}.bucket`, message, hint, ...NOWHERE });
      return { ...found, url: null, ok: false, error: message };
    }),
  );
  return { states, missing };
}

const WITHOUT_CREDENTIALS = new Set(['credentials_not_found', 'cli_profile_not_found']);

/** The error of a bucket that does not exist. Credentials that only a sign-in gives are not asked for. */
async function missingBucket(
  name: string,
  profile: Settings['storage_profiles'][string],
  { signal }: { signal: AbortSignal },
): Promise<UserError | null> {
  if (profile.role_arn !== undefined) return null;
  try {
    const store = await createS3Store({ name, profile, signal });
    await store.list('probe');
    return null;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toUserError(thrown);
    return error.code === 'bucket_missing' ? error : null;
  }
}

function endpointOf(profile: ProfileDraft, cli: AwsProfile | undefined): string | null {
  const { provider, account_id, region = cli?.region } = profile;
  const endpoint = cli?.endpoint ?? profile.endpoint;
  if (endpoint !== undefined || provider === undefined) return endpoint ?? null;
  const { derivedEndpoint, endpoint: usual } = STORAGE_PROVIDERS[provider];
  return usual({ account_id }) ?? derivedEndpoint?.({ region }) ?? null;
}
