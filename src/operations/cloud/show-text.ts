import { stringify } from 'yaml';
import type { HubContent } from '../../results/cloud-results.ts';
import { nextRemovalsText } from './apply/text.ts';

/** In the shape of tool.yml, so that it can be kept as a file. */
export function hubContentText({ hub, storage_profiles, targets, next_removals }: HubContent): string {
  const document = { ...(storage_profiles && { storage_profiles }), targets };
  const removals = Object.entries(next_removals).map(([target, ids]) => `# ${nextRemovalsText(target, ids)}`);
  return [`# ${hub}`, ...removals, stringify(document).trimEnd()].join('\n');
}
