import { listAll } from '../../cloud/client.ts';
import type { HubContent } from '../../results/cloud-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { outsideSettings, shownProfile } from './apply/apply.ts';
import { openCloud } from './open-cloud.ts';

export async function showHub(context: Context): Promise<HubContent> {
  const client = await openCloud(context);
  const items = await listAll(client, 'listTargets');
  const profiles = await listAll(client, 'listStorageProfiles').catch((error) => {
    if (error instanceof UserError && error.code === 'not_permitted') return null;
    throw error;
  });
  const targets: [string, HubContent['targets'][string]][] = [];
  const removals: [string, string[]][] = [];
  for (const { name, settings, permissions } of items) {
    if (!permissions.includes('change')) {
      targets.push([name, settings]);
      continue;
    }
    const { body } = await client.call('getTarget', { parameters: { name } });
    targets.push([name, { ...settings, ...(body && outsideSettings(body)) }]);
    if (body?.next_removals?.length) removals.push([name, body.next_removals]);
  }
  return {
    hub: client.endpoint,
    storage_profiles: profiles && Object.fromEntries(profiles.map((profile) => [profile.name, shownProfile(profile)])),
    targets: Object.fromEntries(targets),
    next_removals: Object.fromEntries(removals),
  };
}
