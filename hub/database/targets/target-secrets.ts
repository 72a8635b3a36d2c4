import type { TargetSettings } from '../../../src/cloud/contract/resources.ts';
import { URL_KEYS, withoutPassword } from '../../../src/cloud/contract/url-password.ts';
import type { HubKey } from '../../settings/parse-values.ts';
import type { Connection } from '../database.ts';
import { readSecrets } from '../secrets.ts';
import type { TargetRow } from './targets.ts';

export const WEBHOOK_URL = 'webhook.url';
export const WEBHOOK_SECRET = 'webhook.secret';

/** The whole webhook of a target, for a notification; `null` when it has none. */
export async function targetWebhook(
  db: Connection,
  targetId: string,
  keys: HubKey[],
): Promise<{ url: string; secret: string; mayBePrivate: boolean } | null> {
  const row = await db.selectFrom('targets').select('webhook_private').where('id', '=', targetId).executeTakeFirst();
  const { values } = await readSecrets(db, { owner: 'target', owner_id: targetId }, keys);
  const { [WEBHOOK_URL]: url, [WEBHOOK_SECRET]: secret } = values;
  return row && url !== undefined && secret !== undefined ? { url, secret, mayBePrivate: row.webhook_private } : null;
}

export function isUrlKey(key: string): boolean {
  return (URL_KEYS as readonly string[]).includes(key);
}

/** Full URLs, by key. */
export async function targetUrls(db: Connection, target: TargetRow, keys: HubKey[]): Promise<Record<string, string>> {
  const urls: Record<string, string> = {};
  for (const key of URL_KEYS) {
    const url = valueAt(target.settings, key);
    if (typeof url === 'string') urls[key] = url;
  }
  const { values } = await readSecrets(db, { owner: 'target', owner_id: target.id }, keys);
  // A webhook is for the hub alone.
  return { ...urls, ...Object.fromEntries(Object.entries(values).filter(([key]) => isUrlKey(key))) };
}

/** Settings as they are shown, and the URLs that hold a password. */
export function withoutSecrets(given: TargetSettings): { settings: TargetSettings; secrets: Record<string, string> } {
  const settings = structuredClone(given);
  const secrets: Record<string, string> = {};
  for (const key of URL_KEYS) {
    const url = valueAt(settings, key);
    if (typeof url !== 'string') continue;
    const shown = withoutPassword(url);
    if (shown === url) continue;
    secrets[key] = url;
    const [part = '', field = ''] = key.split('.');
    (settings as Record<string, Record<string, unknown>>)[part] = {
      ...(settings as Record<string, Record<string, unknown>>)[part],
      [field]: shown,
    };
  }
  return { settings, secrets };
}

export function valueAt(settings: object, key: string): unknown {
  const [part = '', field = ''] = key.split('.');
  return (settings as Record<string, Record<string, unknown> | undefined>)[part]?.[field];
}
