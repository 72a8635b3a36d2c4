import { quoteName } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { isWord, significant, type Token } from '../definitions/tokens.ts';
import type { Server } from '../introspect.ts';

/** Rights of the session's user and its active roles, from SHOW GRANTS. */
export interface Rights {
  account: string;
  fold(name: string): string;
  /** The database as in a GRANT, escaped where names are patterns. */
  inGrant(database: string): string;
  /** Rights from a pattern that a GRANT on the database itself must repeat: the server uses the closest grant only. */
  byPattern(database: string): string[];
  onServer(right: string): boolean;
  onDatabase(database: string, right: string): boolean;
  onTable(database: string, table: string, right: string): boolean;
}

interface Grant {
  isRevoke: boolean;
  rights: Set<string>;
  /** `null`: all. */
  database: string | null;
  table: string | null;
  grantee: string;
}

export async function readRights(session: MysqlSession): Promise<Rights> {
  const [self] = await session.query<{ account: string; folds: number }>(
    'SELECT CURRENT_USER() AS account, @@lower_case_table_names AS folds',
  );
  const [partial] = await session.query<{ Value: string }>("SHOW VARIABLES LIKE 'partial_revokes'");
  return rightsOf({
    account: accountName(self?.account ?? ''),
    folds: Number(self?.folds ?? 0) > 0,
    patterns: partial?.Value !== 'ON',
    grants: await readGrants(session),
  });
}

/** The lines of SHOW GRANTS, whose column is named after the account. */
export async function readGrants(session: MysqlSession): Promise<string[]> {
  const rows = await session.query<Record<string, string>>('SHOW GRANTS');
  return rows.flatMap((row) => Object.values(row));
}

function accountName(account: string): string {
  const at = account.lastIndexOf('@');
  return `${quoteName(account.slice(0, at))}@${quoteName(account.slice(at + 1))}`;
}

interface GrantFacts {
  account: string;
  folds: boolean;
  /** `_` and `%` in names of databases are wildcards. */
  patterns: boolean;
  grants: string[];
}

export function rightsOf({ account, folds, patterns, grants }: GrantFacts): Rights {
  const fold = (name: string): string => (folds ? name.toLowerCase() : name);
  const ofGrantee = Map.groupBy(grants.flatMap(parseGrant), ({ grantee }) => grantee);
  const matches = (pattern: string, database: string): boolean =>
    patterns ? isLike(fold(pattern), fold(database)) : fold(unescaped(pattern)) === fold(database);
  const granted = (all: Grant[], right: string): boolean => all.some(({ rights }) => includes(rights, right));

  const onDatabase = (database: string, right: string): boolean =>
    [...ofGrantee.values()].some((all) => {
      const ofDatabases = all.filter(
        (each) => each.database !== null && each.table === null && matches(each.database, database),
      );
      if (ofDatabases.some(({ isRevoke, rights }) => isRevoke && includes(rights, right))) return false;
      if (granted(all.filter(isOnServer), right)) return true;
      const closest = closestOf(ofDatabases);
      return closest !== undefined && includes(closest.rights, right);
    });
  return {
    account,
    fold,
    inGrant: (database) => quoteName(patterns ? database.replaceAll(/[_%\\]/g, '\\$&') : database),
    byPattern: (database) => {
      const own = (ofGrantee.get(account) ?? []).filter((each) => each.database !== null && each.table === null);
      const closest = closestOf(own.filter((each) => matches(each.database ?? '', database)));
      const isPattern = literalLength(closest?.database ?? '') < Number.MAX_SAFE_INTEGER;
      return closest && isPattern ? [...closest.rights].filter((right) => right !== 'USAGE') : [];
    },
    onServer: (right) => [...ofGrantee.values()].some((all) => granted(all.filter(isOnServer), right)),
    onDatabase,
    onTable: (database, table, right) =>
      onDatabase(database, right) ||
      granted(
        [...ofGrantee.values()]
          .flat()
          .filter(
            (each) =>
              each.database !== null &&
              each.table !== null &&
              fold(each.database) === fold(database) &&
              fold(each.table) === fold(table),
          ),
        right,
      ),
  };
}

/** The server uses the most specific pattern only. */
function closestOf(grants: Grant[]): Grant | undefined {
  return grants
    .filter(({ isRevoke }) => !isRevoke)
    .sort((a, b) => literalLength(b.database ?? '') - literalLength(a.database ?? ''))[0];
}

function isOnServer({ database, isRevoke }: Grant): boolean {
  return database === null && !isRevoke;
}

/** `ALL PRIVILEGES` does not include dynamic privileges such as `SHOW_ROUTINE`. */
function includes(rights: Set<string>, right: string): boolean {
  return rights.has(right) || (rights.has('ALL PRIVILEGES') && !right.includes('_'));
}

/** Grants of roles, columns, routines and proxies are skipped: they are never for a whole object. */
function parseGrant(line: string): Grant[] {
  const tokens = significant(line);
  const verb = tokens[0]?.value;
  const on = tokens.findIndex((token) => isWord(token, 'ON'));
  if (on === -1 || (verb !== 'GRANT' && verb !== 'REVOKE')) return [];
  const [database, dot, table, ...rest] = tokens.slice(on + 1);
  if (!database || !table || dot?.text !== '.' || database.kind === 'word') return [];
  return [
    {
      isRevoke: verb === 'REVOKE',
      rights: wholeRights(tokens.slice(1, on)),
      database: nameOf(database),
      table: nameOf(table),
      grantee: granteeOf(rest.slice(1)),
    },
  ];
}

function nameOf({ text, value }: Token): string | null {
  return text === '*' ? null : value;
}

function granteeOf(tokens: Token[]): string {
  const end = tokens[1]?.text === '@' ? 3 : 1;
  return tokens
    .slice(0, end)
    .map(({ text }) => text)
    .join('');
}

function wholeRights(tokens: Token[]): Set<string> {
  const rights = new Set<string>();
  let words: string[] = [];
  let depth = 0;
  let isPartial = false;
  const add = (): void => {
    if (!isPartial && words.length > 0) rights.add(words.join(' '));
    words = [];
    isPartial = false;
  };
  for (const { kind, text, value } of tokens) {
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth > 0) isPartial = true;
    else if (text === ',') add();
    else if (kind === 'word') words.push(value);
  }
  add();
  return rights;
}

function* patternOf(pattern: string): Generator<{ character: string; wild: boolean }> {
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at += 1) {
    const escapes = characters[at] === '\\' && at + 1 < characters.length;
    if (escapes) at += 1;
    const character = characters[at] ?? '';
    yield { character, wild: !escapes && (character === '_' || character === '%') };
  }
}

function isLike(pattern: string, database: string): boolean {
  const parts = [...patternOf(pattern)].map(({ character, wild }) =>
    wild ? (character === '_' ? '.' : '.*') : character.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'),
  );
  return new RegExp(`^${parts.join('')}$`, 'su').test(database);
}

function unescaped(pattern: string): string {
  return [...patternOf(pattern)].map(({ character }) => character).join('');
}

function literalLength(pattern: string): number {
  const parts = [...patternOf(pattern)];
  const first = parts.findIndex(({ wild }) => wild);
  return first === -1 ? Number.MAX_SAFE_INTEGER : first;
}

/** Rights to check, and the database and server to check them on. */
export interface Scope {
  database: string;
  server: Server;
  rights: Rights;
}

export const TABLE_RIGHTS =
  'SELECT,INSERT,UPDATE,DELETE,CREATE,DROP,REFERENCES,INDEX,ALTER,CREATE VIEW,SHOW VIEW,TRIGGER,DELETE HISTORY'.split(
    ',',
  );

export function grantText(granted: string[], on: string, { account }: Rights): string {
  return `GRANT ${granted.join(', ')} ON ${on} TO ${account}`;
}

export function grantOnDatabase(database: string, right: string, rights: Rights): string {
  const all = new Set([...rights.byPattern(database), ...right.split(', ')]);
  return grantText([...all], `${rights.inGrant(database)}.*`, rights);
}
