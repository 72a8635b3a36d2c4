import { type FileRequest, readConfigFile } from '../../config/config-file.ts';
import { requireSecretKey } from '../../config/secrets/require-secret-key.ts';
import { valueAt } from '../../config/tree.ts';
import { urlParts } from '../../config/urls/url-parts.ts';
import { targetConfigured, type UrlTarget } from '../../config/urls/url-target.ts';
import type { SavedTarget } from '../../results/configuration/configuration-results.ts';
import { addChange, openDraft, saveDraft } from './edit-configuration.ts';
import { applySetUp, planSetUp } from './set-up.ts';

/**
 * Writes a target of the command line into the configuration file in use, or into a new one of the user. Passwords are
 * encrypted; throws `secret_key_missing` where nothing can encrypt them.
 */
export async function saveTarget(surroundings: FileRequest, { name, from, to }: UrlTarget): Promise<SavedTarget> {
  const request = { ...surroundings, urls: undefined };
  if ((await readConfigFile(request)) === null) {
    const setUp = { file: request.file ?? '', target: name, source: from, destination: to ?? '' };
    const plan = await planSetUp(request, { ...setUp, schemaConfig: null, variables: null, storage: null });
    return { target: name, ...(await applySetUp(request, plan)) };
  }
  let draft = await openDraft(request);
  if (valueAt(draft.written, ['targets', name]) !== undefined) throw targetConfigured(name);
  const urls = [['src_url', from], ...(to === undefined ? [] : [['dst_url', to]])] as const;
  if (draft.secretKey === null && urls.some(([, url = '']) => urlParts(url)?.user.includes(':'))) requireSecretKey({});
  for (const [key = '', value = ''] of urls) {
    draft = await addChange(request, draft, { kind: 'set', path: ['targets', name, 'snapshot', key], value });
  }
  const { file } = await saveDraft(request, draft);
  return { target: name, file };
}
