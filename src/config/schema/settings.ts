import * as v from 'valibot';
import { commandKeysSchema } from './command-keys.ts';
import { dockerSchema } from './docker.ts';
import { notifySchema } from './notify.ts';
import type { schemaConfigSchema } from './snapshot.ts';
import { ssoProviderSchema } from './sso.ts';
import { storageProfileSchema } from './storage-profile.ts';
import { targetSchema } from './target.ts';
import { traits } from './traits.ts';
import { baseCopyKeys, cores, destinationUrl, name, path, publicKey, sql, text, webUrl } from './values.ts';

const THEMES = ['auto', 'dark', 'light', 'dark-16', 'light-16', 'mono'] as const;

export const DEFAULT_WORKING_DIRECTORY = '~/.tool';

/**
 * The whole configuration. Types, validation, variables, the example file, the JSON Schema and the reference page
 * derive from it.
 */
export const settingsSchema = v.strictObject({
  secret_key: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^(?:[0-9a-fA-F]{32}|keychain)$/, 'must be exactly 32 hexadecimal characters, or the word keychain'),
      v.description('Encrypts secrets of the configuration; "keychain" reads it from the system keychain.'),
      v.examples(['0123456789abcdef0123456789abcdef']),
      traits({ secret: true, hint: 'tool config init generates one; so does: openssl rand -hex 16' }),
    ),
  ),
  authtoken: v.exactOptional(
    v.pipe(
      text,
      v.description('Token of the hub; turns on cloud mode.'),
      v.examples(['token from the cloud']),
      traits({ secret: true }),
    ),
  ),
  working_directory: v.optional(
    v.pipe(path, v.description('Folder of local snapshots and temporary files.'), traits({ effect: 'writes_folder' })),
    DEFAULT_WORKING_DIRECTORY,
  ),
  env: v.optional(
    v.pipe(v.picklist(['development', 'staging', 'production']), v.description('Selects the address of the hub.')),
    'production',
  ),
  dev_api_url: v.optional(
    v.pipe(webUrl, v.description('Address of the hub for env development.')),
    'http://localhost:3000',
  ),
  staging_api_url: v.exactOptional(
    v.pipe(webUrl, v.description('Address of the hub for env staging.'), v.examples(['https://staging.example.com'])),
  ),
  base_url: v.exactOptional(
    v.pipe(webUrl, v.description('Address of the hub for env production.'), v.examples(['https://cloud.example.com'])),
  ),
  debug: v.optional(
    v.pipe(v.boolean(), v.description('Prints external commands to standard error, and keeps a log.')),
    false,
  ),
  trace: v.optional(v.pipe(v.boolean(), v.description('Logs every event and SQL statement.')), false),
  theme: v.optional(
    v.pipe(v.picklist(THEMES), v.description('Colours of the screens.'), traits({ harmless: true })),
    'auto',
  ),
  notify: v.optional(
    v.pipe(
      notifySchema,
      v.description('Announcements of the screens when a long run ends.'),
      traits({ harmless: true }),
    ),
    {},
  ),
  keys: v.optional(
    v.pipe(
      commandKeysSchema,
      v.description('Keys of the screens, by the command ids of docs/screens.md.'),
      traits({ harmless: true }),
    ),
    {},
  ),
  trusted_keys: v.exactOptional(
    v.pipe(
      v.array(publicKey),
      v.description(
        'Public keys of machines (tool key): only snapshots signed by one of them are loaded, sanitized, pulled and imported.',
      ),
      v.examples([['ed25519-11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=']]),
    ),
  ),
  docker: v.optional(v.pipe(dockerSchema, v.description('Images of the database engines.')), {}),
  override: v.optional(
    v.pipe(
      v.strictObject({
        san_query: v.exactOptional(
          v.pipe(
            sql,
            v.description('Sanitization query of all targets, plain or base64.'),
            v.examples(["UPDATE users SET email = 'user' || id || '@example.com';"]),
          ),
        ),
        dst_db_url: v.exactOptional(v.pipe(destinationUrl, v.description('Destination of all loads and subsets.'))),
      }),
      v.description('Settings of targets without their own.'),
    ),
    {},
  ),
  defaults: v.optional(
    v.pipe(
      v.strictObject({
        shared_target_dst_db_url: v.exactOptional(
          v.pipe(destinationUrl, v.description('Destination of shared snapshots.')),
        ),
        cpus: v.exactOptional(v.pipe(cores, v.description('CPU cores for all operations.'))),
        ...baseCopyKeys,
        branch_database: v.exactOptional(
          v.pipe(
            v.string(),
            v.regex(/^(?=.{1,100}$).*\{name\}/, 'must contain {name}, in at most 100 characters'),
            v.description('Database name of a branch; default {destination}_{name}.'),
            v.examples(['{destination}_{name}']),
          ),
        ),
      }),
      v.description('Default values.'),
    ),
    {},
  ),
  sso: v.optional(v.pipe(v.record(name, ssoProviderSchema), v.description('Identity providers, by name.')), {}),
  storage_profiles: v.optional(v.pipe(v.record(name, storageProfileSchema), v.description('Buckets, by name.')), {}),
  targets: v.optional(v.pipe(v.record(name, targetSchema), v.description('Databases to copy, by name.')), {}),
});

export type Settings = v.InferOutput<typeof settingsSchema>;
export type TargetSettings = v.InferOutput<typeof targetSchema>;
export type SchemaConfig = v.InferOutput<typeof schemaConfigSchema>;
