import { profileOf } from '../../engines/list.ts';
import type { EngineProfile } from '../../engines/profile.ts';
import { isAmbiguousUrl, isPublicParameter } from '../../engines/url-parameters.ts';
import { redact } from '../../process/redact.ts';
import { EFFECTS, type Effect } from '../../results/configuration/effects.ts';
import { decodeQuery } from '../../sanitize/base64.ts';
import { commandText } from '../../text/shell-word.ts';
import { type Shape, shapeAt } from '../schema/shape.ts';
import { FOLDER } from '../schema/storage-providers.ts';
import { ENCRYPTED } from '../secrets/cipher.ts';
import { openValues } from '../secrets/open-values.ts';
import { dotted, isTree, type KeyPath, type Tree, valueAt } from '../tree.ts';
import { fillUrls } from '../urls/fill-urls.ts';
import { urlParts } from '../urls/url-parts.ts';
import { engineOfUrl } from '../urls/url-scheme.ts';
import type { CoveredFile } from './covered-files.ts';

export interface EffectsOptions {
  shape: Shape;
  /** Replaces the `secret_key` of the file. */
  secretKey: string | undefined;
  files: CoveredFile[];
}

/** The effects of the covered part of a configuration; variables stay names. */
export function effectsOf(covered: Tree, { shape, secretKey, files }: EffectsOptions): Effect[] {
  const tree = structuredClone(covered);
  if (secretKey) tree.secret_key = secretKey;
  const found: Effect[] = [];
  const secrets = openValues(tree);
  fillUrls(tree, {
    shape,
    variables: (name) => {
      found.push({ effect: 'reads_variable', object: name });
      return `$${name}`;
    },
  });
  secrets.openFilled();
  const collecting: EffectCollector = { covered, root: shape, found, files };
  if (secretKey && covered.secret_key === undefined) delete tree.secret_key;
  collect(tree, [], collecting);
  for (const [name, profile] of entriesOf(tree.storage_profiles)) collectStorage(name, profile, found);
  const distinct = new Map(found.map((effect) => [JSON.stringify(effect), effect]));
  return [...distinct.values()].toSorted(byKind);
}

function byKind(one: Effect, other: Effect): number {
  const [a, b] = [EFFECTS.indexOf(one.effect), EFFECTS.indexOf(other.effect)];
  return a - b || (textOf(one) < textOf(other) ? -1 : 1);
}

function textOf({ object, detail = '' }: Effect): string {
  return `${object}\0${detail}`;
}

interface EffectCollector {
  covered: Tree;
  root: Shape;
  found: Effect[];
  files: CoveredFile[];
}

function collect(value: unknown, path: KeyPath, collecting: EffectCollector): void {
  const { effect } = shapeAt(collecting.root, path)?.traits ?? {};
  if (Array.isArray(value) && effect === 'runs_command') collectValue(commandText(value.map(String)), path, collecting);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) collect(item, [...path, index], collecting);
  else if (isTree(value)) for (const key of Object.keys(value)) collect(value[key], [...path, key], collecting);
  else if (value !== null && value !== undefined) collectValue(value, path, collecting);
}

function collectValue(value: unknown, path: KeyPath, { covered, root, found, files }: EffectCollector): void {
  const shape = shapeAt(root, path);
  const sealed = hasEncrypted(valueAt(covered, path));
  const add = (effect: Effect): void => void found.push({ ...effect, ...(sealed && { sealed }) });
  const by = ownerOf(path);
  const text = String(value);
  const effect = shape?.traits.effect;
  // A value that cannot be decrypted now may be later, by another key: its encrypted text is shown.
  if (text.startsWith(ENCRYPTED) && effect !== undefined && effect !== 'stores') {
    found.push({ effect: 'sets', object: dotted(path), detail: `encrypted: ${text}` });
    return;
  }
  switch (effect) {
    case undefined:
      add({ effect: 'sets', object: dotted(path), ...shownValue(text, shape) });
      return;
    case 'reads':
    case 'replaces':
      add({ effect, object: withoutPassword(text), detail: by });
      found.push(...surroundingsOf(text, by));
      return;
    case 'connects':
      add({ effect, object: withoutUser(text), detail: dotted(path) });
      return;
    case 'runs_sql':
      add({ effect, object: decodeQuery(text) ?? text, detail: by });
      return;
    case 'runs_file': {
      const content = files.find(({ name }) => name === text)?.digest ?? 'missing';
      add({ effect, object: `${text} (${content})`, detail: by });
      return;
    }
    case 'runs_program':
      if (value === true) add({ effect, object: 'mysqldump', detail: by });
      return;
    case 'tunnels':
    case 'runs_command':
    case 'allows':
      add({ effect, object: text, detail: by });
      return;
    case 'runs_image':
    case 'trusts':
    case 'writes_folder':
      add({ effect, object: text });
      return;
    // Shown together.
    case 'stores':
      return;
    default:
      effect satisfies never;
  }
}

function hasEncrypted(written: unknown): boolean {
  return Array.isArray(written)
    ? written.some(hasEncrypted)
    : typeof written === 'string' && written.includes(ENCRYPTED);
}

/** The target of a key, or else the key. */
function ownerOf(path: KeyPath): string {
  return path[0] === 'targets' && path.length > 1 ? String(path[1]) : dotted(path);
}

/** A value of an unknown key may be a misplaced secret. */
function shownValue(text: string, shape: Shape | null): Pick<Effect, 'detail'> {
  if (!shape) return {};
  return { detail: shape.traits.secret ? 'a secret' : redact(text) };
}

/** `postgres://role@host:5432/database?service=prod` */
function withoutPassword(url: string): string {
  const parts = urlParts(url);
  // A variable may replace any part of this URL: only certain passwords are masked.
  if (!parts) return redact(url);
  const { scheme, user, hosts, path, parameters } = parts;
  // Such a URL is refused.
  if (isAmbiguousUrl(url)) return `${scheme}://***`;
  const [role = ''] = user.split(':');
  // Unknown parameters are refused with the URL, and may be a misspelled password.
  const query = parameters.filter(([name]) => isPublicParameter(name)).map(([name, value]) => `${name}=${value}`);
  const from = `${scheme}://${role === '' ? '' : `${role}@`}${hosts || '(default)'}${path}`;
  return redact(`${from}${query.length === 0 ? '' : `?${query.join('&')}`}`);
}

/** Logins, files and variables that a connection uses besides. */
function surroundingsOf(url: string, by: string): Effect[] {
  const parts = urlParts(url);
  const engine = engineOfUrl(url);
  if (!parts || !engine) return [];
  const { surroundings, parameters: known }: EngineProfile = profileOf(engine);
  const tunnels = parts.parameters.filter(([name]) => name === 'tunnel');
  const files = parts.parameters.filter(([name]) => Object.hasOwn(known, name) && known[name] === 'file');
  const effects = [
    ...tunnels.map(([, object]): Effect => ({ effect: 'tunnels', object, detail: by })),
    ...files.map(([, object]): Effect => ({ effect: 'uses_file', object })),
  ];
  const given = new Set(parts.parameters.map(([name]) => name));
  if (parts.user.includes(':') || given.has('password') || given.has('passfile')) return effects;
  const names = [...surroundings.passwordVariables, ...surroundings.passwordFileVariables];
  return [...effects, ...names.map((object): Effect => ({ effect: 'reads_variable', object }))];
}

function withoutUser(url: string): string {
  const address = url.replace(/^([^:/?#]*:\/\/)[^/?#]*@/, '$1');
  // What stands in place of a port may be a part of a password.
  const isHost = /^[^:/?#]*:\/\/(?:\[[^\]]*\]|[^:/?#]*)(?::\d*)?(?:[/?#]|$)/.test(address);
  return isHost || !address.includes('://') ? redact(address) : address.replace(/:\/\/.*$/s, '://***');
}

/** Variables of the S3 client for a profile without credentials. */
const STORAGE_VARIABLES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'];

function collectStorage(name: string, profile: unknown, found: Effect[]): void {
  if (!isTree(profile)) return;
  const { provider, bucket, path, prefix, region, endpoint, account_id, role_arn, cli_profile, access_key, encrypt } =
    profile;
  const address = typeof endpoint === 'string' ? withoutUser(endpoint) : undefined;
  const where = [provider, region, address, account_id, role_arn].filter((part) => typeof part === 'string').join(', ');
  const place = [bucket, path, prefix].filter((part) => typeof part === 'string' && part !== '').join('/');
  const object = `${name}: ${place} (${where})`;
  found.push({ effect: 'stores', object, detail: encrypt === true ? 'encrypted' : 'in clear' });
  if (provider === FOLDER) return;
  if (typeof cli_profile === 'string') {
    found.push({ effect: 'uses_file', object: `credentials of the AWS profile ${cli_profile}` });
  } else if (typeof access_key !== 'string' && typeof role_arn !== 'string') {
    found.push(...STORAGE_VARIABLES.map((variable): Effect => ({ effect: 'reads_variable', object: variable })));
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return isTree(value) ? Object.entries(value) : [];
}
