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
      v.description(
        "Encrypts what is sensitive in the configuration; keychain when the system's keychain holds it. Required when something is encrypted.",
      ),
      v.examples(['0123456789abcdef0123456789abcdef']),
      traits({ secret: true, hint: 'tool config init generates one; so does: openssl rand -hex 16' }),
    ),
  ),
  authtoken: v.exactOptional(
    v.pipe(
      text,
      v.description('Cloud token; switches from local to cloud mode.'),
      v.examples(['token from the cloud']),
      traits({ secret: true }),
    ),
  ),
  working_directory: v.optional(
    v.pipe(
      path,
      v.description('Directory for local snapshots and temporary files.'),
      traits({ effect: 'writes_folder' }),
    ),
    DEFAULT_WORKING_DIRECTORY,
  ),
  env: v.optional(
    v.pipe(v.picklist(['development', 'staging', 'production']), v.description('Selects the cloud API endpoint.')),
    'production',
  ),
  dev_api_url: v.optional(
    v.pipe(webUrl, v.description('Base of the cloud API when env is development.')),
    'http://localhost:3000',
  ),
  staging_api_url: v.exactOptional(
    v.pipe(
      webUrl,
      v.description('Base of the cloud API when env is staging.'),
      v.examples(['https://staging.example.com']),
    ),
  ),
  base_url: v.exactOptional(
    v.pipe(
      webUrl,
      v.description('Base of the cloud API when env is production.'),
      v.examples(['https://cloud.example.com']),
    ),
  ),
  debug: v.optional(
    v.pipe(
      v.boolean(),
      v.description('Says the commands that are run with their time on standard error, and keeps a log.'),
    ),
    false,
  ),
  trace: v.optional(
    v.pipe(v.boolean(), v.description('Keeps a log with every event and SQL statement as well.')),
    false,
  ),
  theme: v.optional(
    v.pipe(
      v.picklist(THEMES),
      v.description(
        'Colours of the screens: auto follows the background of the terminal; -16 uses its sixteen colours only; mono none.',
      ),
      traits({ harmless: true }),
    ),
    'auto',
  ),
  notify: v.optional(
    v.pipe(
      notifySchema,
      v.description('What the terminal does when a long run ends in the screens.'),
      traits({ harmless: true }),
    ),
    {},
  ),
  keys: v.optional(
    v.pipe(
      commandKeysSchema,
      v.description('Keys of the screens, by command: in place of those in docs/screens.md.'),
      traits({ harmless: true }),
    ),
    {},
  ),
  trusted_keys: v.exactOptional(
    v.pipe(
      v.array(publicKey),
      v.description(
        'Public keys (tool key prints that of a machine). Only snapshots signed by one of them are loaded, sanitized, pulled and imported.',
      ),
      v.examples([['ed25519-11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=']]),
    ),
  ),
  docker: v.optional(v.pipe(dockerSchema, v.description('Database engine images.')), {}),
  override: v.optional(
    v.pipe(
      v.strictObject({
        san_query: v.exactOptional(
          v.pipe(
            sql,
            v.description('Sanitization query of all targets, may be base64; a target can override it.'),
            v.examples(["UPDATE users SET email = 'user' || id || '@example.com';"]),
          ),
        ),
        dst_db_url: v.exactOptional(
          v.pipe(
            destinationUrl,
            v.description('Destination of all loads and subsets; a target with a dst_url overrides it.'),
          ),
        ),
      }),
      v.description('Settings for all targets that have none of their own.'),
    ),
    {},
  ),
  defaults: v.optional(
    v.pipe(
      v.strictObject({
        shared_target_dst_db_url: v.exactOptional(
          v.pipe(destinationUrl, v.description('Destination of shared team snapshots.')),
        ),
        cpus: v.exactOptional(v.pipe(cores, v.description('CPU cores for all operations, unless a target sets cpus.'))),
        ...baseCopyKeys,
        branch_database: v.exactOptional(
          v.pipe(
            v.string(),
            v.regex(/^(?=.{1,100}$).*\{name\}/, 'must contain {name}, in at most 100 characters'),
            v.description(
              'The name of the database of a branch, of {name} and {destination}; default {destination}_{name}.',
            ),
            v.examples(['{destination}_{name}']),
          ),
        ),
      }),
      v.description('Default values.'),
    ),
    {},
  ),
  sso: v.optional(
    v.pipe(v.record(name, ssoProviderSchema), v.description('Identity providers for single sign-on, by name.')),
    {},
  ),
  storage_profiles: v.optional(
    v.pipe(v.record(name, storageProfileSchema), v.description('Cloud storage, by name.')),
    {},
  ),
  targets: v.optional(v.pipe(v.record(name, targetSchema), v.description('Units of work, by name.')), {}),
});

export type Settings = v.InferOutput<typeof settingsSchema>;
export type TargetSettings = v.InferOutput<typeof targetSchema>;
export type SchemaConfig = v.InferOutput<typeof schemaConfigSchema>;
