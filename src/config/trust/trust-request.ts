import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { profileOf } from '../../engines/list.ts';
import { redact } from '../../process/redact.ts';
import { decodeQuery } from '../../sanitize/base64.ts';
import type { ConfigFile } from '../config-file.ts';
import { settingsSchema } from '../schema/settings.ts';
import { type Shape, shapeOf } from '../schema/shape.ts';
import { ENCRYPTED } from '../secrets/cipher.ts';
import { openValues } from '../secrets/open-values.ts';
import { dotted, isTree, type KeyPath, type Tree } from '../tree.ts';
import { fillUrls } from '../urls/fill-urls.ts';
import { urlParts } from '../urls/url-parts.ts';
import { engineOfUrl } from '../urls/url-scheme.ts';

export interface TrustRequest {
  /** Absolute path, links resolved. */
  file: string;
  items: TrustItems;
  /** SHA-256 of the items in hexadecimal: equal for files with equal effects. */
  digest: string;
}

export interface TrustItems {
  hosts: string[];
  variables: string[];
  files: string[];
  images: string[];
  commands: string[];
  keys: string[];
}

/** Reads only the file's text and TOOL_SECRET_KEY, which may decrypt it. */
export async function trustRequestOf(
  { path, source }: Pick<ConfigFile, 'path' | 'source'>,
  environment: NodeJS.ProcessEnv,
): Promise<TrustRequest> {
  const items = itemsOf(source.tree, environment.TOOL_SECRET_KEY);
  const digest = createHash('sha256').update(JSON.stringify(items)).digest('hex');
  return { file: await realpath(path).catch(() => path), items, digest };
}

function itemsOf(written: Tree, secretKey: string | undefined): TrustItems {
  const shape = shapeOf(settingsSchema);
  const tree = structuredClone(written);
  if (secretKey) tree.secret_key = secretKey;
  const found = { hosts: [], variables: [], files: [], images: [], commands: [], keys: [] } as TrustItems;
  const secrets = openValues(tree);
  fillUrls(tree, {
    shape,
    variables: (name) => {
      found.variables.push(name);
      return `$${name}`;
    },
  });
  secrets.openFilled();
  collect(tree, { shape, path: [], found });
  for (const [name, profile] of entriesOf(tree.storage_profiles)) collectStorage(name, profile, found);
  return Object.fromEntries(
    Object.entries(found).map(([name, values]) => [name, [...new Set<string>(values)].sort()]),
  ) as unknown as TrustItems;
}

interface Collecting {
  shape: Shape;
  path: KeyPath;
  found: TrustItems;
}

function collect(value: unknown, { shape, path, found }: Collecting): void {
  if (typeof value === 'string') collectText(value, { shape, path, found });
  else if (shape.kind === 'object' && isTree(value)) {
    for (const [key, child] of shape.keys) collect(value[key], { shape: child, path: [...path, key], found });
  } else if (shape.kind === 'map' || shape.kind === 'list') {
    for (const [key, child] of Object.entries(value ?? {})) {
      collect(child, { shape: shape.of, path: [...path, key], found });
    }
  }
}

function collectText(text: string, { shape, path, found }: Collecting): void {
  const { trust } = shape.traits;
  if (text === shape.default) return;
  // A value that cannot be decrypted now may be later, by another key: its encrypted text is shown.
  const shown = text.includes(ENCRYPTED) && (trust !== 'database' || text.startsWith(ENCRYPTED));
  const value = shown ? `${dotted(path)}, encrypted: ${text}` : text;
  switch (trust) {
    case undefined:
      return;
    case 'database':
      collectDatabase(value, found);
      return;
    case 'web':
      found.hosts.push(withoutUser(value));
      return;
    case 'image':
      found.images.push(value);
      return;
    case 'sql':
      found.commands.push(decodeQuery(value) ?? value);
      return;
    case 'sql file':
      found.commands.push(`SQL file ${value}`);
      return;
    case 'folder':
      found.files.push(`${value} (writes)`);
      return;
    case 'key':
      found.keys.push(value);
      return;
    default:
      trust satisfies never;
  }
}

/** Parameters that redirect nothing and reveal nothing; any other one is shown. */
const HARMLESS = new Set([
  ...['user', 'dbname', 'application_name', 'fallback_application_name', 'connect_timeout', 'client_encoding'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_user_timeout'],
]);
const SECRET = /password|secret|scram_\w+_key/i;

function collectDatabase(url: string, { hosts, files, variables }: TrustItems): void {
  const parts = urlParts(url);
  if (!parts) {
    // A variable may replace any part of this URL: only certain passwords are masked.
    hosts.push(redact(url));
    return;
  }
  const { scheme, user, parameters } = parts;
  const telling = parameters.filter(([name]) => !HARMLESS.has(name) && !SECRET.test(name));
  const query = telling.map(([name, value]) => `${name}=${value}`).join('&');
  hosts.push(`${scheme}://${parts.hosts || '(default)'}${query === '' ? '' : `?${query}`}`);
  files.push(...telling.flatMap(([name, value]) => (/^[/~.]/.test(value) && name !== 'host' ? [value] : [])));
  const hasPassword = user.includes(':') || parameters.some(([name]) => name === 'password' || name === 'passfile');
  const engine = engineOfUrl(url);
  if (hasPassword || !engine) return;
  const { passwordVariables, passwordFileVariables } = profileOf(engine).surroundings;
  variables.push(...passwordVariables, ...passwordFileVariables);
}

function withoutUser(url: string): string {
  return redact(url.replace(/^([^:/?#]*:\/\/)[^/?#]*@/, '$1'));
}

/** Variables of the S3 client for a profile without credentials. */
const STORAGE_VARIABLES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'];

function collectStorage(name: string, profile: unknown, { hosts, files, variables }: TrustItems): void {
  if (!isTree(profile)) return;
  const { provider, bucket, region, account_id, role_arn, cli_profile, access_key } = profile;
  const where = [provider, region, account_id, role_arn].filter((part) => typeof part === 'string').join(', ');
  hosts.push(`bucket ${String(bucket ?? name)} (${where})`);
  if (typeof cli_profile === 'string') files.push(`credentials of the AWS profile ${cli_profile}`);
  else if (typeof access_key !== 'string' && typeof role_arn !== 'string') variables.push(...STORAGE_VARIABLES);
}

function entriesOf(value: unknown): [string, unknown][] {
  return isTree(value) ? Object.entries(value) : [];
}

export function asksForNothing({ items }: TrustRequest): boolean {
  return Object.values(items).every((values: string[]) => values.length === 0);
}
