import { type AwsProfile, readAwsProfiles } from '../../config/aws-profiles.ts';
import type { Draft } from '../../config/check-values.ts';
import type { Problem } from '../../config/configuration.ts';
import { type ProfileDraft, profilesOf } from '../../config/rules/rule.ts';
import { STORAGE_PROVIDERS } from '../../config/schema/storage-providers.ts';
import { type Reach, reach } from './reach.ts';

/** A storage profile, as `config check` shows it. */
export interface StorageState extends Reach {
  name: string;
  provider: string | null;
  bucket: string | null;
  /** Whether it has what its provider needs; one that lacks something is not asked. */
  complete: boolean;
}

export interface StorageRequest {
  draft: Draft;
  problems: Problem[];
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
  offline: boolean;
}

/** Whether each storage profile is complete, and its service answers. */
export async function reachStorage({ draft, problems, ...request }: StorageRequest): Promise<StorageState[]> {
  const awsProfiles = await readAwsProfiles(request.environment);
  return Promise.all(
    profilesOf(draft).map(async ([name, profile]) => {
      const key = `storage_profiles.${name}`;
      const isWrong = (problem: Problem): boolean =>
        problem.severity === 'error' && `${problem.key}.`.startsWith(`${key}.`);
      const complete = !problems.some(isWrong);
      const url = complete ? endpointOf(profile, awsProfiles.get(profile.cli_profile ?? '')) : null;
      const answer = url === null ? { url, ok: null, error: null } : await reach(url, request);
      return { name, provider: profile.provider ?? null, bucket: profile.bucket ?? null, complete, ...answer };
    }),
  );
}

function endpointOf(profile: ProfileDraft, cli: AwsProfile | undefined): string | null {
  const { provider, account_id, region = cli?.region } = profile;
  const endpoint = cli?.endpoint ?? profile.endpoint;
  if (endpoint !== undefined || provider === undefined) return endpoint ?? null;
  const { derivedEndpoint, endpoint: usual } = STORAGE_PROVIDERS[provider];
  return usual({ account_id }) ?? derivedEndpoint?.({ region }) ?? null;
}
