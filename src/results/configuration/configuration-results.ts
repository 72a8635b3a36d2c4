import * as v from 'valibot';
import { describe, flag, number, orNull, text, texts } from '../fields.ts';
import { effect } from './effects.ts';

export const mode = v.picklist(['local', 'cloud']);

/** `local`: configuration file and this machine. `cloud`: also storage, sharing and targets of a team. */
export type Mode = v.InferOutput<typeof mode>;

const problem = v.object({
  severity: v.picklist(['error', 'warning']),
  code: describe(text, 'Stable, listed in docs/errors.md: `unknown_key`.'),
  key: text,
  message: text,
  hint: orNull(text),
  file: orNull(text),
  line: orNull(number),
  column: orNull(number),
});

export type Problem = v.InferOutput<typeof problem>;

const shadowed = describe(orNull(text), "The user's file, which is not read because of `./tool.yml`.");

/** Fields that do not apply to the kind are `null`. */
const valueOrigin = v.object({
  kind: v.picklist(['file', 'variable', 'default']),
  file: orNull(text),
  line: orNull(number),
  variable: orNull(text),
});

export type ValueOrigin = v.InferOutput<typeof valueOrigin>;

/** A value of the configuration in force, and where it comes from. */
const explainedValue = v.object({
  key: describe(text, 'Dotted: `targets.app.subset.subset_tables[0].table`.'),
  path: describe(v.array(v.union([text, number])), 'The same in parts, since a name may have a dot in it.'),
  value: describe(v.unknown(), 'A secret is `***`, a connection URL without its password.'),
  origin: valueOrigin,
});

export type ExplainedValue = v.InferOutput<typeof explainedValue>;

export const shownConfiguration = v.object({
  file: orNull(text),
  shadowed,
  mode,
  values: v.array(explainedValue),
  problems: v.array(problem),
});

export type ShownConfiguration = v.InferOutput<typeof shownConfiguration>;

const writtenFile = {
  file: text,
  working_directory: text,
  replaced: orNull(text),
  shadowed_by: describe(orNull(text), 'A file of the current folder that is read instead of the written one.'),
};

export const initResult = v.object({
  ...writtenFile,
  secret_key_in: v.picklist(['file', 'keychain']),
  keychain_error: orNull(text),
});

export type InitResult = v.InferOutput<typeof initResult>;

const importChanges = {
  changed: describe(v.array(v.object({ key: text, does: text })), '`Rename awscli_profile to cli_profile`'),
  left_out: v.array(
    v.object({
      key: text,
      reason: v.picklist(['cloud', 'working_directory', 'client_programs', 'unknown', 'empty']),
    }),
  ),
};

export const importReport = v.object({
  from: text,
  ...writtenFile,
  ...importChanges,
  variables: describe(v.array(v.object({ from: text, to: text })), 'Set variables of DBSnapper and their names here.'),
  problems: describe(v.array(problem), 'Problems that `config check --offline` finds in the written file.'),
});

export type ImportReport = v.InferOutput<typeof importReport>;

export const encryptResult = v.object({
  file: text,
  encrypted: describe(texts, 'Dotted keys.'),
  skipped: v.array(v.object({ key: text, reason: v.picklist(['encrypted', 'template', 'no_password']) })),
});

export type EncryptResult = v.InferOutput<typeof encryptResult>;

const reach = v.object({
  url: describe(orNull(text), '`null` when none is known.'),
  ok: describe(orNull(flag), '`null` without a request.'),
  error: orNull(text),
});

export type Reach = v.InferOutput<typeof reach>;

const storageState = v.object({
  name: text,
  provider: orNull(text),
  bucket: orNull(text),
  complete: describe(flag, 'It has the settings that its provider needs; one that lacks some is not contacted.'),
  ...reach.entries,
});

export type StorageState = v.InferOutput<typeof storageState>;

const workingDirectoryReport = v.object({
  path: text,
  ok: describe(orNull(flag), '`null` when it is not there yet: the first build makes it.'),
  error: orNull(text),
});

export type WorkingDirectoryReport = v.InferOutput<typeof workingDirectoryReport>;

const toolReport = v.object({ name: text, path: text, version: text });

export type ToolReport = v.InferOutput<typeof toolReport>;

const tools = v.array(toolReport);

const engineState = v.object({
  id: describe(text, 'The engine and where its tools run: `postgres-local`.'),
  ok: flag,
  tools,
});

export type EngineState = v.InferOutput<typeof engineState>;

const imageReport = v.object({
  id: describe(text, 'The engine and where its tools run: `postgres-docker`.'),
  image: text,
  present: describe(flag, 'It is on this machine; if not, it is pulled when it is needed.'),
  ok: flag,
  tools,
  error: orNull(text),
});

export type ImageReport = v.InferOutput<typeof imageReport>;

const dockerReport = v.object({
  ok: flag,
  name: describe(orNull(text), '`Docker 28.2.2`; `null` when no daemon answers.'),
  error: orNull(text),
  hint: orNull(text),
  images: v.array(imageReport),
});

export type DockerReport = v.InferOutput<typeof dockerReport>;

const sanitizePlaceReport = v.object({
  target: text,
  place: describe(orNull(text), 'For people; `null` when there is none.'),
  throw_away: describe(flag, 'The run creates the place and drops it.'),
  error: orNull(text),
});

export type SanitizePlaceReport = v.InferOutput<typeof sanitizePlaceReport>;

export const checkReport = v.object({
  ok: describe(flag, 'No problem is an error.'),
  file: orNull(text),
  shadowed,
  mode,
  offline: flag,
  problems: v.array(problem),
  plain_secrets: describe(texts, 'Dotted keys of the secrets that the file holds in plain.'),
  working_directory: describe(orNull(workingDirectoryReport), '`null` while the configuration is not valid.'),
  engines: v.array(engineState),
  docker: describe(orNull(dockerReport), '`null` where no image is configured and Docker is not installed.'),
  sanitizing: describe(
    v.array(sanitizePlaceReport),
    'Where targets would be sanitized; empty for an invalid configuration.',
  ),
  keychain: v.object({ ok: flag, reason: orNull(text) }),
  storage_profiles: v.array(storageState),
  cloud: describe(orNull(reach), "The cloud's API; `null` in local mode."),
});

export type CheckReport = v.InferOutput<typeof checkReport>;

export const ownKey = v.object({
  public_key: describe(text, 'The public key, in the form of `trusted_keys`.'),
  file: describe(text, 'Path of the private key.'),
});

export type OwnKey = v.InferOutput<typeof ownKey>;

export const savedTarget = v.object({
  target: describe(text, 'Name of the target.'),
  file: describe(text, 'Absolute.'),
});

export type SavedTarget = v.InferOutput<typeof savedTarget>;

export const trustedFile = v.object({
  file: describe(text, 'Absolute.'),
  digest: describe(text, 'The value for TOOL_TRUST.'),
  effects: v.array(effect),
});

export type TrustedFile = v.InferOutput<typeof trustedFile>;

export const forgottenSource = v.object({ former_source: describe(text, 'URL without password.') });

export type ForgottenSource = v.InferOutput<typeof forgottenSource>;

export const declaredSources = v.object({
  unverified_sources: describe(texts, 'URLs without password, or keys of unreadable URLs.'),
});

export type DeclaredSources = v.InferOutput<typeof declaredSources>;

export const clearStorage = v.object({ clear_storage: describe(text, 'The storage profile.') });

export type ClearStorage = v.InferOutput<typeof clearStorage>;
