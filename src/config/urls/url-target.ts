import { createHash } from 'node:crypto';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { setValue, type Tree } from '../tree.ts';
import { urlParts } from './url-parts.ts';

/** A target of the command line, without a configuration file. */
export interface UrlTarget {
  name: string;
  /** Connection URLs with their passwords, by their flags. */
  from: string;
  to?: string;
}

interface Flags {
  from?: string | undefined;
  to?: string | undefined;
}

/** Names the target of `--from` after database and host of the source: `shop-db.example.com`. Throws for what is no URL. */
export function urlTarget({ from, to }: Flags, environment: NodeJS.ProcessEnv): UrlTarget {
  if (from === undefined) {
    const hint = 'For example: tool load --from URL --to URL';
    throw new UserError('flag_needs_flag', '--to requires --from', { hint });
  }
  for (const [flag, url] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    if (url !== undefined && !urlParts(url)?.scheme) throw notAUrl(flag);
  }
  return { name: nameOf(from, environment), from, ...(to !== undefined && { to }) };
}

const MOST_CHARACTERS = 64;

/** Databases that the name alone would not tell apart get a digest as well. */
function nameOf(url: string, environment: NodeJS.ProcessEnv): string {
  const { scheme = '', user = '', hosts = '', path = '', parameters = [] } = urlParts(url) ?? {};
  const given = new Map(parameters);
  const database = given.get('dbname') || path.slice(1) || user.split(':')[0] || 'database';
  const host = given.get('host') || hosts || given.get('service') || 'localhost';
  const exact = `${database}-${hostText(host, scheme)}`;
  const name = exact.replaceAll(/[^\p{L}\p{N}._-]/gu, '-').replace(/^[^\p{L}\p{N}]+/u, '');
  const isWhole = /:\d+$/.test(hosts) && path.length > 1;
  const variables = isWhole || !/^postgres/i.test(scheme) ? [] : VARIABLES.filter((variable) => environment[variable]);
  const location = [
    ...parameters.filter(([key]) => LOCATION.has(key)),
    ...variables.map((variable) => [variable, environment[variable]]),
  ];
  if (name === exact && name.length <= MOST_CHARACTERS && !database.includes('-') && location.length === 0) return name;
  const parts = JSON.stringify([database, host, scheme, ...location]);
  const digest = createHash('sha256').update(parts).digest('hex').slice(0, 8);
  return `${name.slice(0, MOST_CHARACTERS - digest.length - 1)}-${digest}`;
}

/** Parameters that lead to another server or database. */
const LOCATION = new Set(['host', 'hostaddr', 'port', 'service', 'servicefile', 'dbname', 'tunnel', 'socket']);

/** Variables of libpq that complete a URL. */
const VARIABLES = ['PGHOST', 'PGHOSTADDR', 'PGPORT', 'PGSERVICE', 'PGDATABASE'];

/** Without the port that a PostgreSQL server has by default, and with every other one. */
function hostText(host: string, scheme: string): string {
  if (/^postgres/i.test(scheme)) return host.replace(/:5432$/, '').replace(/:(?=\d+$)/, '-');
  return (/:\d+$/.test(host) ? host : `${host}:3306`).replace(/:(?=\d+$)/, '-');
}

/** Adds the target to the settings; returns the flags by the dotted keys that they set. */
export function addUrlTarget(tree: Tree, { name, from, to }: UrlTarget): Map<string, string> {
  const flags = new Map<string, string>();
  for (const [key, flag, url] of [
    ['src_url', '--from', from],
    ['dst_url', '--to', to],
  ] as const) {
    if (url === undefined) continue;
    setValue(tree, ['targets', name, 'snapshot', key], url);
    flags.set(`targets.${name}.snapshot.${key}`, flag);
  }
  return flags;
}

/** Its source would no longer be guarded, and its other settings are for that source. */
export function targetConfigured(name: string): UserError {
  return new UserError('usage', `Target "${name}" of --from is configured`, {
    hint: `Use it: ${shell`tool load ${name}`}. For another destination: --destdb URL. tool config show prints its settings.`,
  });
}

function notAUrl(flag: string): UserError {
  return new UserError('usage', `${flag} must be a connection URL`, {
    hint: `For example: ${flag} postgres://app@db.example.com:5432/shop`,
  });
}
