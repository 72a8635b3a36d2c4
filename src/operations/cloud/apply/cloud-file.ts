import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { poolName, scheduleSchema, webhookSchema } from '../../../cloud/contract/builds.ts';
import { keepSchema } from '../../../cloud/contract/keep-policy.ts';
import {
  expectedEvery,
  type StorageSettings,
  storageSettingsSchema,
  type TargetSettings,
  targetSettingsSchema,
} from '../../../cloud/contract/resources.ts';
import { groups, resourceName, trustedKeys } from '../../../cloud/contract/values.ts';
import type { Settings } from '../../../config/schema/settings.ts';
import { decrypt, ENCRYPTED } from '../../../config/secrets/cipher.ts';
import { requireSecretKey } from '../../../config/secrets/require-secret-key.ts';
import { isTree, type Tree } from '../../../config/tree.ts';
import { parseYaml } from '../../../config/yaml/yaml-source.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';

const OUTSIDE = {
  original_groups: v.optional(groups, []),
  builder_groups: v.optional(groups, []),
  /** Absent: those of the hub. */
  trusted_keys: v.exactOptional(trustedKeys),
  expected_every: v.exactOptional(expectedEvery),
  /** Absent: that of the hub. */
  restore_expected_every: v.exactOptional(expectedEvery),
  schedule: v.exactOptional(scheduleSchema),
  pool: v.exactOptional(poolName),
  webhook: v.exactOptional(webhookSchema),
  keep: v.exactOptional(keepSchema),
};

/** Keys of a target that the hub stores beside its settings. */
const outsideSchema = v.object(OUTSIDE);

export type OutsideSettings = v.InferOutput<typeof outsideSchema>;

export const OUTSIDE_KEYS = Object.keys(OUTSIDE) as (keyof OutsideSettings)[];

export type CloudFileTarget = OutsideSettings & { settings: TargetSettings };

const profileSchema = v.strictObject({ ...storageSettingsSchema.entries, target_groups: v.exactOptional(groups) });

export interface CloudFileProfile {
  settings: StorageSettings;
  /** Absent: members put targets into it, whatever their groups. */
  target_groups?: string[];
}

/** Content of a file for the hub: `storage_profiles` and `targets`, as in tool.yml. */
export interface CloudFile {
  storageProfiles: Map<string, CloudFileProfile>;
  targets: Map<string, CloudFileTarget>;
}

/** Reads a file in the shape of tool.yml. Templates are kept: the builder fills them in. */
export async function readCloudFile({ configuration, signal }: Context, file: string): Promise<CloudFile> {
  const text = await readFile(file, { encoding: 'utf8', signal }).catch((error: NodeJS.ErrnoException) => {
    signal.throwIfAborted();
    throw invalid(file, [error.code === 'ENOENT' ? 'there is no such file' : `cannot be read: ${error.code}`]);
  });
  const { tree, flaws } = parseYaml(text);
  const problems = flaws.map(({ line, message }) => `line ${line}: ${message}`);
  const found: CloudFile = { storageProfiles: new Map(), targets: new Map() };
  const check = <Output>(key: string, schema: v.GenericSchema<unknown, Output>, value: unknown): Output | null => {
    const result = v.safeParse(schema, value);
    if (result.success) return result.output;
    for (const issue of result.issues) {
      const place = [key, v.getDotPath(issue)].filter(Boolean).join('.');
      problems.push(`${place} ${issue.type === 'strict_object' ? 'is not a key of the hub' : issue.message}`);
    }
    return null;
  };
  for (const [name, value] of entriesOf(tree.storage_profiles)) {
    const key = `storage_profiles.${name}`;
    check(key, resourceName, name);
    const profile = check(key, profileSchema, opened(value, configuration.settings));
    if (profile === null) continue;
    const { target_groups, ...settings } = profile;
    found.storageProfiles.set(name, { settings, ...(target_groups !== undefined && { target_groups }) });
  }
  for (const [name, value] of entriesOf(tree.targets)) {
    const key = `targets.${name}`;
    const { share, ...rest } = opened(value, configuration.settings);
    check(key, resourceName, name);
    if (share !== undefined) problems.push(`${key}.share is not a key of the hub: ${MEMBERS_DESTINATION}`);
    const keys = Object.entries(await withQuery(rest, file, problems));
    const isOutside = ([one]: [string, unknown]): boolean => Object.hasOwn(OUTSIDE, one);
    const settings = check(key, targetSettingsSchema, Object.fromEntries(keys.filter((one) => !isOutside(one))));
    const outside = check(key, outsideSchema, Object.fromEntries(keys.filter(isOutside)));
    if (settings && outside) found.targets.set(name, { settings, ...outside });
  }
  if (problems.length > 0) throw invalid(file, problems);
  return found;
}

const MEMBERS_DESTINATION = 'each member sets defaults.shared_target_dst_db_url';

function entriesOf(value: unknown): [string, Tree][] {
  return isTree(value) ? Object.entries(value).map(([name, of]) => [name, isTree(of) ? of : {}]) : [];
}

/** With the values that the file holds encrypted. */
function opened(tree: Tree, settings: Settings): Tree {
  const open = (value: unknown): unknown => {
    if (typeof value === 'string' && value.startsWith(ENCRYPTED)) {
      return decrypt(value, requireSecretKey(settings)) ?? value;
    }
    return isTree(value) ? opened(value, settings) : value;
  };
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, open(value)]));
}

/** The hub has no files: the query is sent as text. */
async function withQuery(tree: Tree, file: string, problems: string[]): Promise<Tree> {
  const { sanitize } = tree;
  if (!isTree(sanitize) || typeof sanitize.query_file !== 'string') return tree;
  const { query_file, ...rest } = sanitize;
  if (rest.override_query !== undefined) return { ...tree, sanitize: rest };
  const path = resolve(dirname(file), query_file);
  const override_query = await readFile(path, 'utf8').catch(() => {
    problems.push(`query file ${path} cannot be read`);
    return '';
  });
  return { ...tree, sanitize: { ...rest, override_query } };
}

function invalid(file: string, problems: string[]): UserError {
  return new UserError('cloud_file_invalid', `${file} cannot be applied to the hub`, {
    details: problems.slice(0, 20),
    hint: 'Fix the file. docs/cloud.md says which keys the hub has.',
  });
}
