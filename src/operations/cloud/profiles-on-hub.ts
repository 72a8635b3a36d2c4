import type { CloudTarget } from '../../cloud/contract/resources.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError, UserError } from '../../runtime/errors.ts';
import { openCloud } from './open-cloud.ts';

/** Storage profiles that a target of the file names, and that the file lacks. */
export interface HubProfiles {
  originals?: string;
  sanitized?: string;
  /** Profile of a shared target, whose snapshots may be either. */
  shared?: string;
}

interface RequiredProfiles {
  target: string;
  profiles: HubProfiles;
  /** `push`: before a build, which would fail at its end. */
  purpose: 'list' | 'transfer' | 'push';
}

/**
 * Throws unless the hub stores the snapshots of its target of this name in these profiles: what the file says is where
 * they go. The hub decides who may read and push.
 */
export async function assertProfilesOnHub(
  context: Context,
  { target, profiles, purpose }: RequiredProfiles,
): Promise<void> {
  const client = await openCloud(context, { listing: purpose === 'list' });
  const found = await client.call('getTarget', { parameters: { name: target } }).catch((thrown) => {
    if (toUserError(thrown).code === 'target_unknown') return { body: null };
    throw thrown;
  });
  const there = found.body?.storage_profiles ?? { originals: null, sanitized: null };
  const isThere = ([kind, profile]: [string, string]): boolean => {
    const names = kind === 'shared' ? Object.values(there) : [there[kind as keyof typeof there]];
    // Of originals, which the caller may not read, the hub tells nothing, and answers nothing.
    return names.includes(profile) || (kind === 'originals' && found.body !== null && !seesOriginals(found.body));
  };
  const missing = Object.entries(profiles).find((entry) => !isThere(entry));
  if (missing === undefined) {
    if (purpose !== 'push' || found.body?.permissions.includes('push')) return;
    throw new UserError('not_permitted', `You may not push to target "${target}" of the hub`, {
      hint: 'Build with --no-push, or ask an owner of the hub.',
    });
  }
  const [, profile] = missing;
  const names = [...new Set(Object.values(there))].filter((name) => name !== null);
  throw new UserError('storage_profile_not_found', `storage profile '${profile}' not found`, {
    details: [
      found.body === null
        ? `The configuration does not define it, and the hub has no target "${target}" that you may read`
        : `The configuration does not define it, and target "${target}" of the hub uses ${names.join(', ') || 'none'}`,
    ],
    hint: `Define it below storage_profiles, or write target "${target}" with it to the hub: tool cloud apply`,
  });
}

function seesOriginals({ permissions }: CloudTarget): boolean {
  return permissions.includes('read_originals') || permissions.includes('push');
}
