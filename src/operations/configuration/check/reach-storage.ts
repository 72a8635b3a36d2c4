import { type AwsProfile, readAwsProfiles } from '../../../config/aws-profiles.ts';
import { NOWHERE } from '../../../config/configuration.ts';
import type { Draft } from '../../../config/problems/check-values.ts';
import { type ProfileDraft, profilesOf } from '../../../config/rules/rule.ts';
import type { Settings } from '../../../config/schema/settings.ts';
import { FOLDER, STORAGE_PROVIDERS } from '../../../config/schema/storage-providers.ts';
import { clearEnvelope } from '../../../repository/encryption/envelope.ts';
import { storeOpener } from '../../../repository/store/open-store.ts';
import type { Problem, StorageState } from '../../../results/configuration/configuration-results.ts';
import { toUserError, type UserError } from '../../../runtime/errors.ts';
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
  /** Buckets and folders that do not exist. */
  missing: Problem[];
}

/** Asks the service of each complete storage profile; finds buckets, where there are credentials, and folders. */
export async function reachStorage({ draft, profiles, problems, ...request }: StorageRequest): Promise<ReachedStorage> {
  const awsProfiles = await readAwsProfiles(request.environment);
  const missing: Problem[] = [];
  const states = await Promise.all(
    profilesOf(draft).map(async ([name, profile]): Promise<StorageState> => {
      const key = `storage_profiles.${name}`;
      const own = problems.filter((problem) => `${problem.key}.`.startsWith(`${key}.`));
      const complete = !own.some(({ severity }) => severity === 'error');
      const { provider = null, bucket = null, path = null } = profile;
      const url = complete ? endpointOf(profile, awsProfiles.get(profile.cli_profile ?? '')) : null;
      const isFolder = complete && provider === FOLDER;
      const answer = isFolder
        ? { url: path, ok: true, error: null }
        : url === null
          ? { url, ok: null, error: null }
          : await reach(url, request);
      const found = { name, provider, bucket, complete, ...answer };
      const settings = profiles[name];
      const canAsk = answer.ok && settings && !own.some(({ code }) => WITHOUT_CREDENTIALS.has(code));
      const error = canAsk ? await missingBucket(name, settings, request) : null;
      if (error === null) return found;
      const { message, hint = null } = error;
      missing.push({
        severity: 'error',
        code: error.code,
        key: `${key}.${isFolder ? 'path' : 'bucket'}`,
        message,
        hint,
        ...NOWHERE,
      });
      return { ...found, url: null, ok: false, error: message };
    }),
  );
  return { states, missing };
}

const WITHOUT_CREDENTIALS = new Set(['credentials_not_found', 'cli_profile_not_found']);

/** The error of a bucket or folder that does not exist. Credentials that only a sign-in gives are not asked for. */
async function missingBucket(
  name: string,
  profile: Settings['storage_profiles'][string],
  { signal }: { signal: AbortSignal },
): Promise<UserError | null> {
  if (profile.role_arn !== undefined) return null;
  try {
    const open = await storeOpener({ name, profile });
    const store = await open({ envelope: clearEnvelope, signal });
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
  if (endpoint !== undefined || provider === undefined || provider === FOLDER) return endpoint ?? null;
  const { derivedEndpoint, endpoint: usual } = STORAGE_PROVIDERS[provider];
  return usual({ account_id }) ?? derivedEndpoint?.({ region }) ?? null;
}
