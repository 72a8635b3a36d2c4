import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { poolName, type Schedule, scheduleSchema, type Webhook, webhookSchema } from '../../cloud/contract/builds.ts';
import { type Keep, keepSchema } from '../../cloud/contract/retention.ts';
import {
  expectedEvery,
  type StorageSettings,
  storageSettingsSchema,
  type TargetSettings,
  targetSettingsSchema,
} from '../../cloud/contract/schemas.ts';
import { groups, resourceName, trustedKeys } from '../../cloud/contract/values.ts';
import type { Settings } from '../../config/schema/settings.ts';
import { decrypt, ENCRYPTED } from '../../config/secrets/cipher.ts';
import { requireSecretKey } from '../../config/secrets/require-secret-key.ts';
import { isTree, type Tree } from '../../config/tree.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';

export interface CloudFileTarget {
  settings: TargetSettings;
  original_groups: string[];
  builder_groups: string[];
  /** Absent: those of the hub. */
  trusted_keys?: string[];
  expected_every?: string;
  schedule?: Schedule;
  pool?: string;
  webhook?: Webhook;
  keep?: Keep;
}

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

const buildsSchema = v.strictObject({
  schedule: v.exactOptional(scheduleSchema),
  pool: v.exactOptional(poolName),
  webhook: v.exactOptional(webhookSchema),
});

function withoutMissing(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
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
    const { target_groups, ...rest } = opened(value, configuration.settings);
    const settings = check(key, storageSettingsSchema, rest);
    const members = check(`${key}.target_groups`, v.optional(groups), target_groups);
    if (settings && members !== null) {
      found.storageProfiles.set(name, { settings, ...(members !== undefined && { target_groups: members }) });
    }
  }
  for (const [name, value] of entriesOf(tree.targets)) {
    const {
      original_groups,
      builder_groups,
      trusted_keys,
      expected_every,
      schedule,
      pool,
      webhook,
      keep,
      share,
      ...rest
    } = opened(value, configuration.settings);
    check(`targets.${name}`, resourceName, name);
    if (share !== undefined) problems.push(`targets.${name}.share is not a key of the hub: ${MEMBERS_DESTINATION}`);
    const settings = await withQuery(rest, file, problems);
    const parsed = check(`targets.${name}`, targetSettingsSchema, settings);
    const original = check(`targets.${name}.original_groups`, v.optional(groups, []), original_groups);
    const builder = check(`targets.${name}.builder_groups`, v.optional(groups, []), builder_groups);
    const keys = check(`targets.${name}.trusted_keys`, v.optional(trustedKeys), trusted_keys);
    const every = check(`targets.${name}.expected_every`, v.optional(expectedEvery), expected_every);
    const builds = check(`targets.${name}`, buildsSchema, withoutMissing({ schedule, pool, webhook }));
    const kept = check(`targets.${name}.keep`, v.optional(keepSchema), keep);
    if (parsed && original && builder && keys !== null && every !== null && builds !== null && kept !== null) {
      found.targets.set(name, {
        ...{ settings: parsed, original_groups: original, builder_groups: builder },
        ...(keys !== undefined && { trusted_keys: keys }),
        ...(every !== undefined && { expected_every: every }),
        ...(kept !== undefined && { keep: kept }),
        ...builds,
      });
    }
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
  return new UserError(`${file} cannot be applied to the hub`, {
    code: 'cloud_file_invalid',
    details: problems.slice(0, 20),
    hint: 'Fix the file. docs/cloud.md says which keys the hub has.',
  });
}
