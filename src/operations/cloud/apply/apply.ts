import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CloudClient } from '../../../cloud/client.ts';
import { compareTarget, type Leaves, leavesOf, settingsOf } from '../../../cloud/compare.ts';
import type { Keep, Removal } from '../../../cloud/contract/keep-policy.ts';
import type { StorageSettings } from '../../../cloud/contract/resources.ts';
import type { AnswerOf } from '../../../cloud/contract/routes.ts';
import { URL_KEYS, withoutPassword } from '../../../cloud/contract/url-password.ts';
import { shownWebhook } from '../../../cloud/contract/webhook.ts';
import type { ApplyPlan, ResourceChange } from '../../../results/cloud-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { openCloud } from '../open-cloud.ts';
import { type CloudFileProfile, type CloudFileTarget, OUTSIDE_KEYS, readCloudFile } from './cloud-file.ts';

interface HubChange extends ResourceChange {
  /** Revision on the hub when the plan was made; `null` creates. */
  revision: number | null;
  desired: Leaves;
}

export interface ApplyRequest {
  file: string;
  cwd: string;
  /** Also what was changed on the hub since the last apply. */
  overwrite: boolean;
}

export interface PlannedApply extends Planned<ApplyRequest, ApplyPlan> {
  /** Revisions of the resources, in their order. */
  revisions: (number | null)[];
}

export interface ApplyResult {
  dry_run: false;
  plan: ApplyPlan;
}

export async function planCloudFile(context: Context, request: ApplyRequest): Promise<PlannedApply> {
  const { plan, steps } = await compareWithHub(context, request);
  const revisions = steps.map(({ revision }) => revision);
  return { request, plan, planned_at: context.clock().toISOString(), revisions };
}

/** Writes the file to the hub; refused when the file or the hub changed since the plan. Steps: `apply KIND NAME`. */
export async function applyCloudFile(context: Context, planned: PlannedApply): Promise<ApplyResult> {
  const { client, plan, steps } = await compareWithHub(context, planned.request);
  const revisions = steps.map(({ revision }) => revision);
  const isSame = isDeepStrictEqual([plan, revisions], [planned.plan, planned.revisions]);
  if (!isSame) throw planOutdated('The file or the hub was changed');
  const lost = steps.filter(({ changes }) => changes.some(({ overwrites }) => overwrites));
  if (lost.length > 0 && !planned.request.overwrite) throw changedOnHub(lost);
  for (const step of steps) if (step.action !== 'unchanged') await applyStep(context, { client, step });
  return { dry_run: false, plan };
}

async function compareWithHub(context: Context, { file, cwd }: ApplyRequest) {
  const path = resolve(cwd, file);
  const { storageProfiles, targets } = await readCloudFile(context, path);
  const client = await openCloud(context);
  const steps: HubChange[] = [];
  for (const [name, profile] of storageProfiles) steps.push(await planProfile(client, name, profile));
  for (const [name, target] of targets) steps.push(await planTarget(client, name, target));
  const resources = steps.map(({ revision: _, desired: __, ...resource }) => resource);
  const plan: ApplyPlan = { hub: client.endpoint, file: path, resources };
  return { client, plan, steps };
}

const SECRET_KEYS = ['access_key', 'secret_key'];

async function planProfile(
  client: CloudClient,
  name: string,
  { settings, target_groups }: CloudFileProfile,
): Promise<HubChange> {
  const found = await absentIfUnknown(client.call('getStorageProfile', { parameters: { name } }));
  const leaves = leavesOf({ ...settings, ...(target_groups && { target_groups }) });
  const fileSecrets: Record<string, string> = {};
  for (const key of SECRET_KEYS) {
    const value = leaves.get(key);
    if (typeof value === 'string') fileSecrets[key] = value;
    leaves.delete(key);
  }
  const { changes, desired } = compareTarget({
    file: leaves,
    fileSecrets,
    hub: leavesOf(found ? shownProfile(found) : {}),
    hubSecrets: found?.secrets ?? {},
    applied: found?.applied ? leavesOf(found.applied) : null,
  });
  return stepOf({ kind: 'storage_profile', name, changes, desired, revision: found?.revision ?? null });
}

/** A storage profile in the shape of the file, as far as the hub shows it. */
export function shownProfile({ settings, target_groups }: AnswerOf<'getStorageProfile'>): Record<string, unknown> {
  return { ...settings, ...(target_groups != null && { target_groups }) };
}

/** Both are sealed on the hub; it shows the URL without its path. */
const WEBHOOK_URL = 'webhook.url';
const WEBHOOK_SECRET = 'webhook.secret';

async function planTarget(client: CloudClient, name: string, target: CloudFileTarget): Promise<HubChange> {
  const found = await absentIfUnknown(client.call('getTarget', { parameters: { name } }));
  const file = leavesOf(target);
  const fileSecrets: Record<string, string> = {};
  for (const key of URL_KEYS.map((one) => `settings.${one}`)) {
    const url = file.get(key);
    if (typeof url !== 'string' || withoutPassword(url) === url) continue;
    fileSecrets[key] = url;
    file.set(key, withoutPassword(url));
  }
  if (target.webhook) {
    const { url, secret } = target.webhook;
    // As it is shown it is the one that the hub has.
    if (url !== shownWebhook(url)) fileSecrets[WEBHOOK_URL] = url;
    file.set(WEBHOOK_URL, shownWebhook(url));
    if (secret !== undefined) fileSecrets[WEBHOOK_SECRET] = secret;
    file.delete(WEBHOOK_SECRET);
  }
  const placeOf = (key: string): string => ([WEBHOOK_URL, WEBHOOK_SECRET].includes(key) ? key : `settings.${key}`);
  const secrets = Object.entries(found?.secrets ?? {}).map(([key, value]) => [placeOf(key), value] as const);
  const { changes, desired } = compareTarget({
    file,
    fileSecrets,
    hub: leavesOf(found ? { settings: found.settings, ...outsideSettings(found) } : {}),
    hubSecrets: Object.fromEntries(secrets),
    applied: found?.applied ? leavesOf(found.applied) : null,
  });
  const step = stepOf({ kind: 'target', name, changes, desired, revision: found?.revision ?? null });
  const { keep } = settingsOf(desired) as { keep?: Keep };
  const isKept = found !== null && keep !== undefined && changes.some(({ key }) => key.startsWith('keep.'));
  return isKept ? { ...step, removes: await removedBy(client, name, keep) } : step;
}

/** The hub decides, by its own clock. */
async function removedBy(client: CloudClient, name: string, keep: Keep): Promise<Removal[]> {
  const { body } = await client.call('getRetention', { parameters: { name }, query: keep });
  return body?.removes ?? [];
}

/** Keys of a target that the hub stores beside its settings; those that are not set are left out. */
export function outsideSettings(answer: AnswerOf<'getTarget'>): object {
  return Object.fromEntries(OUTSIDE_KEYS.map((key) => [key, answer[key]]).filter(([, value]) => value != null));
}

function stepOf(step: Omit<HubChange, 'action'>): HubChange {
  const action = step.revision === null ? 'create' : step.changes.length > 0 ? 'change' : 'unchanged';
  return { ...step, action };
}

async function absentIfUnknown<Body>(answer: Promise<{ body: Body | null }>): Promise<Body | null> {
  try {
    return (await answer).body;
  } catch (error) {
    const isUnknown = error instanceof UserError && ['target_unknown', 'cloud_unknown'].includes(error.code);
    if (isUnknown) return null;
    throw error;
  }
}

/** Keys that the hub keeps where a request lacks them: an older hub refuses them. */
const KEPT_KEYS = ['trusted_keys', 'restore_expected_every'];

async function applyStep(
  { report }: Context,
  { client, step }: { client: CloudClient; step: HubChange },
): Promise<void> {
  const { kind, name, action, revision, desired, changes } = step;
  const what = `${kind === 'target' ? 'target' : 'storage profile'} ${name}`;
  const [label, done] =
    action === 'create' ? [`Create ${what}`, `Created ${what}`] : [`Change ${what}`, `Changed ${what}`];
  await withStep(report, { step: `apply ${kind} ${name}`, label, done }, async () => {
    const parameters = { name };
    const settings = settingsOf(desired);
    if (kind === 'target') {
      const removed = KEPT_KEYS.filter((one) => settings[one] === undefined && changes.some(({ key }) => key === one));
      const body = { ...settings, ...Object.fromEntries(removed.map((key) => [key, null])), applied: true };
      await client.call('putTarget', { parameters, revision, body: body as never });
    } else {
      const { target_groups, ...rest } = settings as StorageSettings & { target_groups?: string[] };
      // An older hub, which has no groups, refuses the key; a newer one opens the profile to every member by `null`.
      const opens = target_groups === undefined && changes.some(({ key }) => key === 'target_groups');
      const members = opens ? { target_groups: null } : target_groups && { target_groups };
      const body = { settings: rest, ...members, applied: true };
      await client.call('putStorageProfile', { parameters, revision, body });
    }
  });
}

function changedOnHub(steps: HubChange[]): UserError {
  return new UserError('cloud_conflict', 'The hub was changed since the last apply, and the file would undo that', {
    details: steps.flatMap(({ name, changes }) =>
      changes.filter(({ overwrites }) => overwrites).map(({ key }) => `${name}: ${key}`),
    ),
    hint: 'Take the changes into the file (tool cloud show), or overwrite them with --overwrite.',
  });
}
