import { randomUUID } from 'node:crypto';
import type { BlockList } from 'node:net';
import { sql } from 'kysely';
import type { Webhook } from '../../../src/cloud/contract/builds.ts';
import type { Fingerprints, TargetBody, TargetSettings } from '../../../src/cloud/contract/resources.ts';
import { withoutPassword } from '../../../src/cloud/contract/url-password.ts';
import { shownWebhook } from '../../../src/cloud/contract/webhook.ts';
import { assertAddressNotLinkLocal, assertPublicAddress } from '../../objects/reach.ts';
import { type Caller, mayUseProfile, type Subject } from '../../permissions/access.ts';
import { Problem } from '../../problem.ts';
import type { HubSettings } from '../../settings/settings.ts';
import { type AuditEvent, eventInsert } from '../audit.ts';
import { assertCondition, type Condition, changedMeanwhile } from '../condition.ts';
import { type Connection, withParts } from '../database.ts';
import { NO_SECRETS, readSecrets, replaceSecrets } from '../secrets.ts';
import { findProfiles } from '../storage-profiles.ts';
import { type CountedTarget, countedTargets } from './target-answers.ts';
import { isUrlKey, valueAt, WEBHOOK_SECRET, WEBHOOK_URL, withoutSecrets } from './target-secrets.ts';
import { lockName, type TargetRow } from './targets.ts';

export interface TargetChange {
  name: string;
  body: TargetBody;
  condition: Condition;
  caller: Caller;
  event: Omit<AuditEvent, 'action'>;
  /** Decides on what was locked; returns the target if the caller may read it. */
  permitFound: (subject: Subject & { target: TargetRow | null }) => TargetRow | null;
  settings: Pick<HubSettings, 'keys' | 'webhookNetworks'>;
}

export interface SavedTarget {
  row: CountedTarget;
  before: TargetRow | null;
  /** Without the digests of new secrets. */
  secrets: Fingerprints;
}

/**
 * Creates or changes a target, with its event; in a transaction of the caller. A name that another target has is refused
 * last: whatever else is wrong with the request is answered as for a free name.
 */
export async function saveTarget(
  db: Connection,
  { name, body, condition, caller, event, permitFound, settings: { keys, webhookNetworks } }: TargetChange,
): Promise<SavedTarget> {
  const { settings, secrets } = withoutSecrets(body.settings);
  const { holder, target } = await lockName(db, name);
  const found = permitFound({ target });
  const profiles = await profileIds(db, body.settings, { caller, found });
  const owner = { owner: 'target', owner_id: found?.id ?? randomUUID() } as const;
  const before = found ? await readSecrets(db, owner, keys) : NO_SECRETS;
  const webhook_private = webhookPrivacy(body.webhook, { found, caller, allowed: webhookNetworks });
  const webhookValues = webhookSecrets(body.webhook, before.values);
  if ('create' in condition) permitFound({ target, holder, creates: true });
  assertCondition(name, condition, found);
  const content = { ...profiles, ...contentOf(body, { settings, found }), webhook_private };
  // A URL as it was shown keeps the password that it had.
  const kept = Object.entries(before.values).filter(
    ([key, url]) => isUrlKey(key) && valueAt(settings, key) === withoutPassword(url),
  );
  const values = { ...Object.fromEntries(kept), ...secrets, ...webhookValues };
  const replaced = replaceSecrets(owner, { before, values, keys });
  const action = found ? 'target.change' : 'target.create';
  const saved = found
    ? db
        .updateTable('targets')
        .set({ ...content, revision: found.revision + 1 })
        .where('id', '=', found.id)
        .returningAll()
    : db
        .insertInto('targets')
        .values({ id: owner.owner_id, name, applied: null, ...content } as never)
        .onConflict((on) => on.column('name').where('removed_at', 'is', null).doNothing())
        .returningAll();
  const parts = [...replaced.statements, eventInsert({ ...event, action })];
  // The answer counts the snapshots of the saved row.
  const { rows } = await sql<CountedTarget>`${withParts(parts)}, targets AS (${saved})
    ${countedTargets(db).selectAll('targets')}`.execute(db);
  const [row] = rows;
  if (!row) {
    // Another request has created it at the same moment.
    permitFound({ ...(await lockName(db, name)), creates: true });
    throw changedMeanwhile(name, condition);
  }
  return { row, before: found, secrets: replaced.fingerprints };
}

/** The columns of a request, as far as they depend on nothing but the present row. */
function contentOf(body: TargetBody, { settings, found }: { settings: TargetSettings; found: TargetRow | null }) {
  const { original_groups, builder_groups, expected_every, schedule, pool, webhook, keep } = body;
  const { trusted_keys, restore_expected_every } = body;
  const webhook_url = webhook && shownWebhook(webhook.url);
  const optional = { trusted_keys, expected_every, restore_expected_every, schedule, pool, keep };
  const given = Object.entries({ ...optional, webhook: webhook && { url: webhook_url } });
  const applied = { settings, original_groups, builder_groups, ...Object.fromEntries(given.filter(isGiven)) };
  const hasOtherAge = found !== null && found.expected_every !== expected_every;
  const hasOtherRestore =
    restore_expected_every !== undefined && found?.restore_expected_every !== restore_expected_every;
  return {
    settings: JSON.stringify(settings),
    ...(body.applied && { applied: JSON.stringify(applied) }),
    ...{ reader_groups: body.settings.sso_groups ?? [], original_groups, builder_groups },
    trusted_keys: trusted_keys === undefined ? (found?.trusted_keys ?? null) : trusted_keys,
    ...{ expected_every, pool, webhook_url },
    ...(hasOtherAge && { expected_since: new Date(), late_since: null }),
    ...(restore_expected_every !== undefined && { restore_expected_every }),
    ...(hasOtherRestore && { restore_expected_since: new Date(), restore_late_since: null }),
    schedule: schedule && JSON.stringify(schedule),
    keep: keep && JSON.stringify(keep),
  };
}

function isGiven([, value]: [string, unknown]): boolean {
  return value !== null && value !== undefined;
}

/** Reports whether the webhook may lead to a private address: an owner wrote it, or it is unchanged. */
function webhookPrivacy(
  webhook: Webhook | null,
  { found, caller, allowed }: { found: TargetRow | null; caller: Caller; allowed: BlockList },
): boolean {
  if (webhook === null) return false;
  const { url } = webhook;
  if (found !== null && found.webhook_url === url) return found.webhook_private;
  const isOwner = caller.role === 'owner';
  if (url.startsWith('http:') && !isOwner) {
    throw new Problem('cloud_refused', 'Only owners may notify a service on the machine of the hub', {
      errors: [{ pointer: '/webhook/url', detail: 'must begin with https://' }],
    });
  }
  assertAddressNotLinkLocal(url, '/webhook/url');
  if (!isOwner) assertPublicAddress(url, { pointer: '/webhook/url', allowed });
  return isOwner;
}

/** A URL as it was shown, and an absent secret, are those that the hub has. */
function webhookSecrets(webhook: Webhook | null, before: Record<string, string>): Record<string, string> {
  if (webhook === null) return {};
  const { [WEBHOOK_URL]: known, [WEBHOOK_SECRET]: knownSecret } = before;
  const isShown = known !== undefined && webhook.url === shownWebhook(known);
  const secret = webhook.secret ?? knownSecret;
  if (secret === undefined) {
    throw new Problem('cloud_refused', 'A webhook needs a secret, which signs its notifications', {
      errors: [{ pointer: '/webhook/secret', detail: 'is required' }],
    });
  }
  return { [WEBHOOK_URL]: isShown ? known : webhook.url, [WEBHOOK_SECRET]: secret };
}

/** A profile that is unknown, and one that the caller may put no targets into, are refused alike. */
async function profileIds(
  db: Connection,
  { storage_profile, sanitize }: TargetSettings,
  { caller, found }: { caller: Caller; found: TargetRow | null },
): Promise<Pick<TargetRow, 'original_profile_id' | 'sanitized_profile_id'>> {
  const kept = [found?.original_profile_id, found?.sanitized_profile_id];
  const named = [storage_profile, sanitize?.storage_profile].filter((name) => name !== undefined);
  const rows = await findProfiles(db, named);
  const idOf = (name: string | undefined, pointer: string): string | null => {
    if (name === undefined) return null;
    const row = rows.find((one) => one.name === name);
    if (row && (kept.includes(row.id) || mayUseProfile(row, caller))) return row.id;
    throw new Problem('cloud_refused', `The hub has no storage profile "${name}" for your targets`, {
      hint: 'An owner creates it, or adds one of your groups to its target_groups: tool cloud apply',
      errors: [{ pointer, detail: 'must name a storage profile of the hub that you may use' }],
    });
  };
  const original = idOf(storage_profile, '/settings/storage_profile');
  const sanitized = idOf(sanitize?.storage_profile, '/settings/sanitize/storage_profile');
  return { original_profile_id: original, sanitized_profile_id: sanitized ?? original };
}
