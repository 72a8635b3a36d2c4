import { resolve } from 'node:path';
import type { CloudClient } from '../../cloud/client.ts';
import { compare, type KeyChange, type Leaves, leavesOf, settingsOf } from '../../cloud/compare.ts';
import type { StorageSettings, TargetBody, TargetSettings } from '../../cloud/contract/schemas.ts';
import { URL_KEYS, withoutPassword } from '../../cloud/contract/url-password.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { readCloudFile } from './cloud-file.ts';
import { openCloud } from './open-cloud.ts';

export interface ResourceChange {
  kind: 'storage_profile' | 'target';
  name: string;
  action: 'create' | 'change' | 'unchanged';
  changes: KeyChange[];
}

/** What applying a file changes on the hub. */
export interface ApplyPlan {
  hub: string;
  file: string;
  resources: ResourceChange[];
}

interface Step extends ResourceChange {
  /** Of the hub when the plan was made; `null` creates. */
  revision: number | null;
  desired: Leaves;
}

export interface PlannedApply {
  plan: ApplyPlan;
  apply: () => Promise<void>;
}

export interface ApplyRequest {
  file: string;
  cwd: string;
  /** Also what was changed on the hub since the last apply. */
  overwrite: boolean;
}

/** Compares a file with the hub. Nothing is changed before `apply`, which is refused where the hub changed meanwhile. */
export async function planApply(context: Context, { file, cwd, overwrite }: ApplyRequest): Promise<PlannedApply> {
  const path = resolve(cwd, file);
  const { storageProfiles, targets } = await readCloudFile(context, path);
  const client = await openCloud(context);
  const steps: Step[] = [];
  for (const [name, settings] of storageProfiles) steps.push(await planProfile(client, name, settings));
  for (const [name, target] of targets) steps.push(await planTarget(client, name, target));
  const lost = steps.filter(({ changes }) => changes.some(({ overwrites }) => overwrites));
  const resources = steps.map(({ kind, name, action, changes }) => ({ kind, name, action, changes }));
  return {
    plan: { hub: client.endpoint, file: path, resources },
    async apply() {
      if (lost.length > 0 && !overwrite) throw changedOnHub(lost);
      for (const step of steps) if (step.action !== 'unchanged') await applyStep(context, { client, step });
    },
  };
}

const SECRET_KEYS = ['access_key', 'secret_key'];

async function planProfile(client: CloudClient, name: string, settings: StorageSettings): Promise<Step> {
  const found = await absentIfUnknown(client.call('getStorageProfile', { parameters: { name } }));
  const leaves = leavesOf(settings);
  const fileSecrets: Record<string, string> = {};
  for (const key of SECRET_KEYS) {
    const value = leaves.get(key);
    if (typeof value === 'string') fileSecrets[key] = value;
    leaves.delete(key);
  }
  const { changes, desired } = compare({
    file: leaves,
    fileSecrets,
    hub: leavesOf(found?.settings ?? {}),
    hubSecrets: found?.secrets ?? {},
    applied: found?.applied ? leavesOf(found.applied) : null,
  });
  return stepOf({ kind: 'storage_profile', name, changes, desired, revision: found?.revision ?? null });
}

async function planTarget(
  client: CloudClient,
  name: string,
  {
    settings,
    original_groups,
    builder_groups,
  }: { settings: TargetSettings } & Pick<TargetBody, 'original_groups' | 'builder_groups'>,
): Promise<Step> {
  const found = await absentIfUnknown(client.call('getTarget', { parameters: { name } }));
  const file = leavesOf({ settings, original_groups, builder_groups });
  const fileSecrets: Record<string, string> = {};
  for (const key of URL_KEYS.map((one) => `settings.${one}`)) {
    const url = file.get(key);
    if (typeof url !== 'string' || withoutPassword(url) === url) continue;
    fileSecrets[key] = url;
    file.set(key, withoutPassword(url));
  }
  const secrets = Object.entries(found?.secrets ?? {}).map(([key, value]) => [`settings.${key}`, value] as const);
  const { changes, desired } = compare({
    file,
    fileSecrets,
    hub: leavesOf(
      found
        ? { settings: found.settings, original_groups: found.original_groups, builder_groups: found.builder_groups }
        : {},
    ),
    hubSecrets: Object.fromEntries(secrets),
    applied: found?.applied ? leavesOf(found.applied) : null,
  });
  return stepOf({ kind: 'target', name, changes, desired, revision: found?.revision ?? null });
}

function stepOf(step: Omit<Step, 'action'>): Step {
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

async function applyStep({ report }: Context, { client, step }: { client: CloudClient; step: Step }): Promise<void> {
  const { kind, name, action, revision, desired } = step;
  const what = kind === 'target' ? 'target' : 'storage profile';
  const id = `apply ${kind} ${name}`;
  report({
    event: 'step',
    step: id,
    state: 'started',
    label: `${action === 'create' ? 'Create' : 'Change'} ${what} ${name}`,
  });
  const parameters = { name };
  const settings = settingsOf(desired);
  if (kind === 'target') {
    const body = { ...settings, applied: true } as never;
    await client.call('putTarget', { parameters, revision, body });
  } else {
    const body = { settings: settings as StorageSettings, applied: true };
    await client.call('putStorageProfile', { parameters, revision, body });
  }
  report({
    event: 'step',
    step: id,
    state: 'done',
    label: `${action === 'create' ? 'Created' : 'Changed'} ${what} ${name}`,
  });
}

function changedOnHub(steps: Step[]): UserError {
  return new UserError('The hub was changed since the last apply, and the file would undo that', {
    code: 'cloud_conflict',
    exit: EXIT.failed,
    details: steps.flatMap(({ name, changes }) =>
      changes.filter(({ overwrites }) => overwrites).map(({ key }) => `${name}: ${key}`),
    ),
    hint: 'Take the changes into the file (tool cloud show), or overwrite them with --overwrite.',
  });
}
