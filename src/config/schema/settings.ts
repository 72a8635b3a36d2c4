import * as v from 'valibot';
import { SAVES_BEFORE } from '../../results/saves/saves-before.ts';
import { parseSize } from '../../text/size.ts';
import { commandKeysSchema } from './command-keys.ts';
import { dockerSchema } from './docker.ts';
import { key, optionalKey } from './key.ts';
import type { schemaConfigSchema } from './snapshot.ts';
import { ssoProviderSchema } from './sso.ts';
import { storageProfileSchema } from './storage-profile.ts';
import { targetSchema } from './target.ts';
import {
  baseCopyKeys,
  cores,
  destinationUrl,
  duration,
  name,
  path,
  publicKey,
  sql,
  text,
  webUrl,
  wholeFrom1,
} from './values.ts';

const THEMES = ['auto', 'dark', 'light', 'dark-16', 'light-16', 'mono'] as const;

export const DEFAULT_WORKING_DIRECTORY = '~/.tool';

/**
 * The whole configuration. Types, validation, variables, the example file, the JSON Schema and the reference page
 * derive from it.
 */
export const settingsSchema = v.strictObject({
  secret_key: optionalKey(
    v.pipe(
      v.string(),
      v.regex(/^(?:[0-9a-fA-F]{32}|keychain)$/, 'must be exactly 32 hexadecimal characters, or the word keychain'),
    ),
    'Encrypts secrets of the configuration; "keychain" reads it from the system keychain.',
    {
      example: '0123456789abcdef0123456789abcdef',
      secret: true,
      hint: 'tool config init generates one; so does: openssl rand -hex 16',
    },
  ),
  authtoken: optionalKey(text, 'Token of the hub; turns on cloud mode.', {
    example: 'token from the cloud',
    secret: true,
  }),
  working_directory: v.optional(
    key(path, 'Folder of local snapshots and temporary files.', { effect: 'writes_folder' }),
    DEFAULT_WORKING_DIRECTORY,
  ),
  env: v.optional(
    key(v.picklist(['development', 'staging', 'production']), 'Selects the address of the hub.', { internal: true }),
    'production',
  ),
  dev_api_url: v.optional(
    key(webUrl, 'Address of the hub for env development.', { internal: true }),
    'http://localhost:3000',
  ),
  staging_api_url: optionalKey(webUrl, 'Address of the hub for env staging.', {
    example: 'https://staging.example.com',
    internal: true,
  }),
  base_url: optionalKey(webUrl, 'Address of the hub for env production.', { example: 'https://cloud.example.com' }),
  debug: v.optional(key(v.boolean(), 'Prints external commands to standard error, and keeps a log.'), false),
  trace: v.optional(key(v.boolean(), 'Logs every event and SQL statement.'), false),
  theme: v.optional(key(v.picklist(THEMES), 'Colours of the screens.', { harmless: true }), 'auto'),
  notify: v.optional(
    key(v.boolean(), 'Announces the end of a long run: title of the window, bell, desktop notification.', {
      harmless: true,
    }),
    true,
  ),
  keys: v.optional(
    key(commandKeysSchema, 'Keys of the screens, by the command ids of docs/screens.md.', { harmless: true }),
    {},
  ),
  trusted_keys: optionalKey(
    v.array(publicKey),
    'Public keys of machines (tool key): only snapshots signed by one of them are loaded, sanitized, pulled and imported.',
    { example: ['ed25519-11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='] },
  ),
  docker: v.optional(key(dockerSchema, 'Images of the database engines.'), {}),
  saves: v.optional(
    key(
      v.strictObject({
        keep: v.optional(key(wholeFrom1, 'Newest saves of each target to keep.'), 20),
        max_size: optionalKey(
          v.pipe(
            v.string(),
            v.check((size) => parseSize(size) !== null, 'must be a size such as 500MB or 5GB'),
          ),
          'Most disk space of the saves of a target; the newest stays.',
          { example: '5GB' },
        ),
        before: optionalKey(
          v.array(v.picklist(SAVES_BEFORE)),
          'Operations that save the state they would lose. Default: all; in CI none.',
          { example: [...SAVES_BEFORE] },
        ),
        max_duration: v.optional(key(wholeFrom1, 'Estimated seconds above which such a save is left out.'), 10),
      }),
      'Limits of saves, and automatic saves.',
    ),
    {},
  ),
  branches: v.optional(
    key(
      v.strictObject({
        follow: v.optional(
          key(
            v.picklist(['tree', 'branch', 'off']),
            'What decides the database of a linked working tree: the tree, its git branch, or nothing.',
          ),
          'tree',
        ),
        expires: optionalKey(duration, 'Age from which tool branch prune drops a branch; not that of a working tree.', {
          example: '7d',
        }),
      }),
      'Branches of working trees, and their age.',
    ),
    {},
  ),
  override: v.optional(
    key(
      v.strictObject({
        san_query: optionalKey(sql, 'Sanitization query of all targets, plain or base64.', {
          example: "UPDATE users SET email = 'user' || id || '@example.com';",
        }),
        dst_db_url: optionalKey(destinationUrl, 'Destination of all loads and subsets.'),
      }),
      'Settings of targets without their own.',
    ),
    {},
  ),
  defaults: v.optional(
    key(
      v.strictObject({
        shared_target_dst_db_url: optionalKey(destinationUrl, 'Destination of shared snapshots.'),
        cpus: optionalKey(cores, 'CPU cores for all operations.'),
        ...baseCopyKeys,
      }),
      'Default values.',
    ),
    {},
  ),
  sso: v.optional(key(v.record(name, ssoProviderSchema), 'Identity providers, by name.'), {}),
  storage_profiles: v.optional(key(v.record(name, storageProfileSchema), 'Buckets, by name.'), {}),
  targets: v.optional(key(v.record(name, targetSchema), 'Databases to copy, by name.'), {}),
});

export type Settings = v.InferOutput<typeof settingsSchema>;
export type TargetSettings = v.InferOutput<typeof targetSchema>;
export type SchemaConfig = v.InferOutput<typeof schemaConfigSchema>;
