import { readFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import * as v from 'valibot';
import { webhookSchema } from '../src/cloud/contract/builds.ts';
import { type StorageSettings, storageSettingsSchema } from '../src/cloud/contract/schemas.ts';
import { UserError } from '../src/runtime/errors.ts';
import {
  type Address,
  address,
  addressFlag,
  type BranchRule,
  githubRules,
  gitlabRules,
  type HubKey,
  httpsUrl,
  hubKeys,
  listed,
  networks,
  publicKeys,
} from './settings-values.ts';

/** The provider that people sign in with. */
export interface SignInSettings {
  provider_url: string;
  client_id: string;
  redirect_url: string | null;
  groups_claim: string;
}

export interface HubSettings {
  databaseUrl: string;
  /** Newest first. */
  keys: HubKey[];
  listen: Address;
  /** `null`: no metrics. */
  metricsListen: Address | null;
  /** The address that clients use; the audience of the tokens of GitHub and GitLab. */
  publicUrl: string | null;
  trustedProxies: BlockList;
  signIn: SignInSettings | null;
  /** Client of the pages, registered with the same provider; without a secret it is a public client. */
  pages: { clientId: string; clientSecret: string | null } | null;
  ownerGroups: string[];
  /** Keys whose signature a sanitized snapshot needs; `null`: any signature, or none. */
  trustedKeys: string[] | null;
  memberGroups: string[];
  auditorGroups: string[];
  github: JobIssuer;
  gitlab: JobIssuer;
  /** Notified of targets that have no webhook of their own. */
  webhook: { url: string; secret: string } | null;
  /** Private addresses that the webhooks of members may lead to. */
  webhookNetworks: BlockList;
  /** The storage profile that a trial begins with. */
  bucket: StorageSettings | null;
}

/** A service whose jobs sign in with an ID token of theirs. */
export interface JobIssuer {
  issuer: string;
  rules: BranchRule[];
}

const PREFIX = 'TOOL_HUB_';

export const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com';
export const GITLAB_ISSUER = 'https://gitlab.com';

/** Every variable of the hub, with what it is for; docs/hub.md has the same list. */
const HUB_VARIABLES = {
  DATABASE_URL: 'connection URL of the PostgreSQL database',
  DATABASE_ROLE: 'role of `tool hub serve`, to which `tool hub migrate` grants its rights',
  KEYS: 'hub keys of 64 hexadecimal digits, newest first',
  LISTEN: 'address and port of the API',
  METRICS_LISTEN: 'address and port of the metrics',
  PUBLIC_URL: 'address at which clients reach the hub',
  TRUSTED_PROXIES: 'addresses or networks whose X-Forwarded-For is believed',
  PROVIDER_URL: 'address of the identity provider',
  CLIENT_ID: 'client identifier, as registered with the provider',
  PAGES_CLIENT_ID: 'client identifier of the pages, default CLIENT_ID',
  PAGES_CLIENT_SECRET: 'its secret; without one the pages are a public client',
  REDIRECT_URL: 'local callback URL of the sign-in',
  GROUPS_CLAIM: 'claim that holds the groups',
  OWNER_GROUPS: 'groups of the owners',
  MEMBER_GROUPS: 'groups of the members',
  AUDITOR_GROUPS: 'groups that may read the audit',
  TRUSTED_KEYS: 'public keys, one of which signs each sanitized snapshot, unless the target names its own',
  GITHUB_BUILDERS: 'OWNER/REPOSITORY@BRANCH=TARGET, which may push without a stored secret',
  GITHUB_ISSUER: 'issuer of the tokens of GitHub Actions',
  WEBHOOK_URL: 'notified of late targets and failed builds, unless the target has a webhook',
  WEBHOOK_SECRET: 'signs its notifications',
  WEBHOOK_NETWORKS: 'private addresses or networks that the webhooks of members may lead to',
  GITLAB_BUILDERS: 'GROUP/PROJECT@BRANCH=TARGET, which may push without a stored secret',
  GITLAB_ISSUER: 'address of GitLab',
  BUCKET: 'bucket of a trial',
  BUCKET_PROVIDER: 'its provider',
  BUCKET_ENDPOINT: 'its endpoint',
  BUCKET_REGION: 'its region',
  BUCKET_PREFIX: 'its prefix',
  BUCKET_ACCESS_KEY: 'its access key',
  BUCKET_SECRET_KEY: 'its secret key',
} as const;

/** Names of the variables; each may also be given as `…_FILE`. */
export const HUB_SETTINGS = Object.keys(HUB_VARIABLES).map((name) => `${PREFIX}${name}`);

type Name = keyof typeof HUB_VARIABLES;

type Values = Partial<Record<Name, string>>;

/** Flags of the command line, which win over variables. */
export interface HubFlags {
  dev: boolean;
  listen?: string | undefined;
  /** URL of the temporary server of a trial. */
  databaseUrl?: string | undefined;
  keys?: HubKey[];
  bucket?: Partial<Record<'bucket' | 'provider' | 'endpoint' | 'region' | 'prefix', string | undefined>>;
}

/** Reads `TOOL_HUB_*`, each also as `TOOL_HUB_*_FILE`. Throws with exit 3 and every problem at once. */
export async function readHubSettings(environment: NodeJS.ProcessEnv, flags: HubFlags): Promise<HubSettings> {
  const problems: string[] = [];
  const values = await readVariables(environment, problems);
  const attempt = attempts(values, problems);
  const need = needs(values, problems);
  if (!flags.dev) {
    need('DATABASE_URL', HUB_VARIABLES.DATABASE_URL);
    need('KEYS', 'generate one with: openssl rand -hex 32');
    need('PUBLIC_URL', HUB_VARIABLES.PUBLIC_URL);
    need('PROVIDER_URL', HUB_VARIABLES.PROVIDER_URL);
    need('CLIENT_ID', HUB_VARIABLES.CLIENT_ID);
    need('OWNER_GROUPS', 'required to write storage profiles');
  }
  const providerUrl = attempt('PROVIDER_URL', (text) => httpsUrl(text));
  const publicUrl = attempt('PUBLIC_URL', (text) => httpsUrl(text));
  const settings: HubSettings = {
    databaseUrl: flags.databaseUrl ?? values.DATABASE_URL ?? '',
    keys: flags.keys ?? attempt('KEYS', hubKeys) ?? [],
    listen: flags.listen
      ? addressFlag(flags.listen, problems)
      : (attempt('LISTEN', address) ?? { host: '127.0.0.1', port: 3000 }),
    metricsListen: attempt('METRICS_LISTEN', address),
    publicUrl,
    trustedProxies: attempt('TRUSTED_PROXIES', networks) ?? new BlockList(),
    signIn:
      providerUrl === null || values.CLIENT_ID === undefined
        ? null
        : {
            provider_url: providerUrl,
            client_id: values.CLIENT_ID,
            redirect_url: values.REDIRECT_URL ?? null,
            groups_claim: values.GROUPS_CLAIM ?? 'groups',
          },
    pages:
      values.CLIENT_ID === undefined
        ? null
        : { clientId: values.PAGES_CLIENT_ID ?? values.CLIENT_ID, clientSecret: values.PAGES_CLIENT_SECRET ?? null },
    trustedKeys: attempt('TRUSTED_KEYS', publicKeys),
    ownerGroups: listed(values.OWNER_GROUPS),
    memberGroups: listed(values.MEMBER_GROUPS),
    auditorGroups: listed(values.AUDITOR_GROUPS),
    github: {
      issuer: attempt('GITHUB_ISSUER', (text) => httpsUrl(text)) ?? GITHUB_ISSUER,
      rules: attempt('GITHUB_BUILDERS', githubRules) ?? [],
    },
    webhook: hubWebhook(values, problems),
    webhookNetworks: attempt('WEBHOOK_NETWORKS', networks) ?? new BlockList(),
    gitlab: {
      issuer: attempt('GITLAB_ISSUER', (text) => httpsUrl(text)) ?? GITLAB_ISSUER,
      rules: attempt('GITLAB_BUILDERS', gitlabRules) ?? [],
    },
    bucket: trialBucket(values, flags, problems),
  };
  if (flags.dev) {
    if (flags.databaseUrl === undefined) need('KEYS', 'a database that stays needs a key that stays');
    if (!['127.0.0.1', '::1', 'localhost'].includes(settings.listen.host)) {
      problems.push('A trial (--dev) listens on this machine only: 127.0.0.1');
    }
  }
  if (settings.github.rules.length > 0) need('PUBLIC_URL', 'it is the audience of the tokens of GitHub Actions');
  if (settings.gitlab.rules.length > 0) need('PUBLIC_URL', 'it is the audience of the ID tokens of GitLab');
  if (problems.length > 0) throw settingsInvalid(problems);
  return settings;
}

/** Reads the settings of `tool hub migrate` and `tool hub reconcile`. */
export async function readMigrationSettings(
  environment: NodeJS.ProcessEnv,
): Promise<Pick<HubSettings, 'databaseUrl' | 'keys' | 'trustedKeys'> & { role: string | null }> {
  const problems: string[] = [];
  const values = await readVariables(environment, problems);
  needs(values, problems)('DATABASE_URL', HUB_VARIABLES.DATABASE_URL);
  const attempt = attempts(values, problems);
  const keys = attempt('KEYS', hubKeys) ?? [];
  const trustedKeys = attempt('TRUSTED_KEYS', publicKeys);
  if (problems.length > 0) throw settingsInvalid(problems);
  return { databaseUrl: values.DATABASE_URL ?? '', keys, trustedKeys, role: values.DATABASE_ROLE ?? null };
}

/** Adds a problem for a required variable that is not set, and about which nothing was reported. */
function needs(values: Values, problems: string[]) {
  return (name: Name, why: string): void => {
    const forms = [`${PREFIX}${name} `, `${PREFIX}${name}_FILE `];
    const isReported = problems.some((problem) => forms.some((form) => problem.startsWith(form)));
    if (values[name] === undefined && !isReported) problems.push(`${PREFIX}${name} is not set: ${why}`);
  };
}

/** Reads a variable; `null` where it is not set or not valid, which is added to the problems. */
function attempts(values: Values, problems: string[]) {
  return <Value>(name: Name, read: (text: string) => Value): Value | null => {
    const text = values[name];
    if (text === undefined) return null;
    try {
      return read(text);
    } catch (error) {
      problems.push(`${PREFIX}${name} ${(error as Error).message}`);
      return null;
    }
  };
}

async function readVariables(environment: NodeJS.ProcessEnv, problems: string[]): Promise<Values> {
  const values: Values = {};
  const known = Object.keys(HUB_VARIABLES).flatMap((name) => [PREFIX + name, `${PREFIX}${name}_FILE`]);
  for (const name of Object.keys(environment)) {
    if (name.startsWith(PREFIX) && !known.includes(name)) problems.push(`${name} is not a setting of the hub`);
  }
  for (const name of Object.keys(HUB_VARIABLES) as Name[]) {
    const text = environment[PREFIX + name]?.trim();
    const file = environment[`${PREFIX}${name}_FILE`]?.trim();
    if (text && file) problems.push(`${PREFIX}${name} and ${PREFIX}${name}_FILE are both set: remove one`);
    else if (text) values[name] = text;
    else if (file) {
      const read = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        problems.push(`${PREFIX}${name}_FILE cannot be read: ${error.code}`);
        return '';
      });
      if (read.trim() !== '') values[name] = read.trim();
    }
  }
  return values;
}

function hubWebhook({ WEBHOOK_URL: url, WEBHOOK_SECRET: secret }: Values, problems: string[]) {
  if (url === undefined && secret === undefined) return null;
  const parsed = v.safeParse(v.required(webhookSchema), { url, secret });
  if (parsed.success) return parsed.output;
  for (const issue of parsed.issues) {
    problems.push(`${PREFIX}WEBHOOK_${v.getDotPath(issue)?.toUpperCase()} ${issue.message}`);
  }
  return null;
}

function trialBucket(values: Values, { dev, bucket = {} }: HubFlags, problems: string[]): StorageSettings | null {
  if (!dev) return null;
  const given = {
    provider: bucket.provider ?? values.BUCKET_PROVIDER ?? 's3',
    bucket: bucket.bucket ?? values.BUCKET,
    endpoint: bucket.endpoint ?? values.BUCKET_ENDPOINT,
    region: bucket.region ?? values.BUCKET_REGION,
    prefix: bucket.prefix ?? values.BUCKET_PREFIX,
    access_key: values.BUCKET_ACCESS_KEY,
    secret_key: values.BUCKET_SECRET_KEY,
  };
  if (given.bucket === undefined) return null;
  for (const name of ['BUCKET_ACCESS_KEY', 'BUCKET_SECRET_KEY'] as const) {
    if (values[name] === undefined) problems.push(`${PREFIX}${name} is not set: the bucket of a trial needs keys`);
  }
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const parsed = v.safeParse(storageSettingsSchema, present);
  if (parsed.success) return parsed.output;
  problems.push(...parsed.issues.map((issue) => `bucket: ${v.getDotPath(issue) ?? ''} ${issue.message}`));
  return null;
}

function settingsInvalid(problems: string[]): UserError {
  return new UserError('The settings of the hub are not valid', {
    code: 'hub_settings_invalid',
    details: problems,
    hint: 'docs/hub.md lists the variables. For a trial without any: tool hub serve --dev',
  });
}
