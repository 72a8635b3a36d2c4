import { readFile } from 'node:fs/promises';
import type { BlockList } from 'node:net';
import * as v from 'valibot';
import { webhookSchema } from '../../src/cloud/contract/builds.ts';
import type { AnswerOf } from '../../src/cloud/contract/routes.ts';
import { UserError } from '../../src/runtime/errors.ts';
import {
  type Address,
  address,
  type BranchRule,
  githubRules,
  gitlabRules,
  type HubKey,
  httpsUrl,
  hubKeys,
  listed,
  networks,
  publicKeys,
  readBy,
} from './parse-values.ts';

/** The identity provider, in the form of the root of the API. */
export type SignInSettings = NonNullable<AnswerOf<'root'>['sign_in']>;

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
}

/** A service whose jobs sign in with an ID token of theirs. */
export interface JobIssuer {
  issuer: string;
  rules: BranchRule[];
}

const PREFIX = 'TOOL_HUB_';

export const GITHUB_ISSUER = 'https://token.actions.githubusercontent.com';
export const GITLAB_ISSUER = 'https://gitlab.com';

const text = v.exactOptional(v.string());
const groups = v.optional(readBy(listed), '');
const url = readBy(httpsUrl);

/** The variables of the hub, in the order of their problems; docs/hub.md says what each is for. */
const VARIABLES = v.object({
  ...{ DATABASE_URL: text, DATABASE_ROLE: text, PROVIDER_URL: v.exactOptional(url), PUBLIC_URL: v.exactOptional(url) },
  KEYS: v.optional(readBy(hubKeys), ''),
  LISTEN: v.optional(readBy(address), '127.0.0.1:3000'),
  METRICS_LISTEN: v.exactOptional(readBy(address)),
  TRUSTED_PROXIES: v.optional(readBy(networks), ''),
  ...{ CLIENT_ID: text, PAGES_CLIENT_ID: text, PAGES_CLIENT_SECRET: text, REDIRECT_URL: text },
  GROUPS_CLAIM: v.optional(v.string(), 'groups'),
  ...{ OWNER_GROUPS: groups, MEMBER_GROUPS: groups, AUDITOR_GROUPS: groups },
  TRUSTED_KEYS: v.exactOptional(readBy(publicKeys)),
  GITHUB_BUILDERS: v.optional(readBy(githubRules), ''),
  GITHUB_ISSUER: v.optional(url, GITHUB_ISSUER),
  GITLAB_BUILDERS: v.optional(readBy(gitlabRules), ''),
  GITLAB_ISSUER: v.optional(url, GITLAB_ISSUER),
  WEBHOOK_NETWORKS: v.optional(readBy(networks), ''),
  ...{ WEBHOOK_URL: text, WEBHOOK_SECRET: text },
});

type Name = keyof typeof VARIABLES.entries;

type Texts = { [Key in Name]?: string | undefined };

const NAMES = Object.keys(VARIABLES.entries) as Name[];

/** Names of the variables; each may also be given as `…_FILE`. */
export const HUB_SETTINGS = NAMES.map((name) => `${PREFIX}${name}`);

/** Why a variable is required; a trial requires none of them. */
const REQUIRED: Texts = {
  DATABASE_URL: 'connection URL of the PostgreSQL database',
  KEYS: 'generate one with: openssl rand -hex 32',
  PUBLIC_URL: 'address at which clients reach the hub',
  PROVIDER_URL: 'address of the identity provider',
  CLIENT_ID: 'client identifier, as registered with the provider',
  OWNER_GROUPS: 'required to write storage profiles',
};

/** A trial (`--dev`), and what it has in place of variables. */
export interface HubFlags {
  dev: boolean;
  /** URL of the temporary server of a trial. */
  databaseUrl?: string | undefined;
  keys?: HubKey[];
}

/** Reads `TOOL_HUB_*`, each also as `TOOL_HUB_*_FILE`. Throws with exit 3 and every problem at once. */
export async function readHubSettings(environment: NodeJS.ProcessEnv, flags: HubFlags): Promise<HubSettings> {
  const { dev } = flags;
  const { texts, problems } = await readTexts(environment);
  const required: Texts = dev ? {} : { ...REQUIRED };
  if (dev && flags.databaseUrl === undefined) required.KEYS = 'a database that stays needs a key that stays';
  if (texts.GITLAB_BUILDERS) required.PUBLIC_URL ??= 'it is the audience of the ID tokens of GitLab';
  if (texts.GITHUB_BUILDERS) required.PUBLIC_URL ??= 'it is the audience of the tokens of GitHub Actions';
  const values = parseTexts(texts, problems, required);
  const webhook = hubWebhook(texts, problems);
  if (dev && values && !['127.0.0.1', '::1', 'localhost'].includes(values.LISTEN.host)) {
    problems.push('A trial (--dev) listens on this machine only: 127.0.0.1');
  }
  if (!values || problems.length > 0) throw settingsInvalid(problems);
  const { PROVIDER_URL: provider_url, CLIENT_ID: client_id, REDIRECT_URL: redirect_url = null } = values;
  const { PAGES_CLIENT_ID: clientId = client_id, PAGES_CLIENT_SECRET: clientSecret = null } = values;
  const isClient = provider_url !== undefined && client_id !== undefined;
  return {
    databaseUrl: flags.databaseUrl ?? values.DATABASE_URL ?? '',
    keys: flags.keys ?? values.KEYS,
    listen: values.LISTEN,
    metricsListen: values.METRICS_LISTEN ?? null,
    publicUrl: values.PUBLIC_URL ?? null,
    trustedProxies: values.TRUSTED_PROXIES,
    signIn: isClient ? { provider_url, client_id, redirect_url, groups_claim: values.GROUPS_CLAIM } : null,
    pages: clientId === undefined ? null : { clientId, clientSecret },
    trustedKeys: values.TRUSTED_KEYS ?? null,
    ownerGroups: values.OWNER_GROUPS,
    memberGroups: values.MEMBER_GROUPS,
    auditorGroups: values.AUDITOR_GROUPS,
    github: { issuer: values.GITHUB_ISSUER, rules: values.GITHUB_BUILDERS },
    gitlab: { issuer: values.GITLAB_ISSUER, rules: values.GITLAB_BUILDERS },
    webhook,
    webhookNetworks: values.WEBHOOK_NETWORKS,
  };
}

/** Reads the settings of `tool hub migrate` and `tool hub reconcile`. */
export async function readMigrationSettings(
  environment: NodeJS.ProcessEnv,
): Promise<Pick<HubSettings, 'databaseUrl' | 'keys' | 'trustedKeys'> & { role: string | null }> {
  const { texts, problems } = await readTexts(environment);
  // Settings that only `serve` reads may be wrong.
  const { DATABASE_URL, KEYS, TRUSTED_KEYS, DATABASE_ROLE } = texts;
  const own = { DATABASE_URL, KEYS, TRUSTED_KEYS, DATABASE_ROLE };
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const values = parseTexts(given, problems, { DATABASE_URL: REQUIRED.DATABASE_URL });
  if (!values || problems.length > 0) throw settingsInvalid(problems);
  const { DATABASE_URL: databaseUrl = '', KEYS: keys, TRUSTED_KEYS: trustedKeys = null } = values;
  return { databaseUrl, keys, trustedKeys, role: values.DATABASE_ROLE ?? null };
}

/** Adds what is missing, unless it was reported, and what is not valid, to the problems. */
function parseTexts(texts: Texts, problems: string[], required: Texts): v.InferOutput<typeof VARIABLES> | null {
  for (const [name, why] of Object.entries(required)) {
    const forms = [`${PREFIX}${name} `, `${PREFIX}${name}_FILE `];
    const isReported = problems.some((problem) => forms.some((form) => problem.startsWith(form)));
    if (texts[name as Name] === undefined && !isReported) problems.push(`${PREFIX}${name} is not set: ${why}`);
  }
  const parsed = v.safeParse(VARIABLES, texts);
  if (parsed.success) return parsed.output;
  problems.push(...parsed.issues.map((issue) => `${PREFIX}${v.getDotPath(issue)} ${issue.message}`));
  return null;
}

async function readTexts(environment: NodeJS.ProcessEnv): Promise<{ texts: Texts; problems: string[] }> {
  const texts: Texts = {};
  const known = HUB_SETTINGS.flatMap((name) => [name, `${name}_FILE`]);
  const unknown = Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  const problems = unknown.map((name) => `${name} is not a setting of the hub`);
  for (const name of NAMES) {
    const variable = PREFIX + name;
    const given = environment[variable]?.trim();
    const file = environment[`${variable}_FILE`]?.trim();
    if (given && file) problems.push(`${variable} and ${variable}_FILE are both set: remove one`);
    else if (given) texts[name] = given;
    else if (file) {
      const read = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        problems.push(`${variable}_FILE cannot be read: ${error.code}`);
        return '';
      });
      if (read.trim() !== '') texts[name] = read.trim();
    }
  }
  return { texts, problems };
}

function hubWebhook({ WEBHOOK_URL: url, WEBHOOK_SECRET: secret }: Texts, problems: string[]) {
  if (url === undefined && secret === undefined) return null;
  const parsed = v.safeParse(v.required(webhookSchema), { url, secret });
  if (parsed.success) return parsed.output;
  for (const issue of parsed.issues) {
    problems.push(`${PREFIX}WEBHOOK_${v.getDotPath(issue)?.toUpperCase()} ${issue.message}`);
  }
  return null;
}

function settingsInvalid(problems: string[]): UserError {
  return new UserError('hub_settings_invalid', 'The settings of the hub are not valid', {
    details: problems,
    hint: 'docs/hub.md lists the variables. For a trial without any: tool hub serve --dev',
  });
}
