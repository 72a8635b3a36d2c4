import { enginesIn } from '../table-traits.ts';
import type { TableDefinition } from './definitions.ts';
import { entriesOf, joinEntries, referredTable } from './table-entries.ts';
import { definerLength, isWord, type LexicalMode, significant, type Token, tokensOf } from './tokens.ts';

/**
 * Divides SHOW CREATE TABLE. An AUTO_INCREMENT column needs its key from the start; only InnoDB builds indexes faster
 * afterwards; the server adds one FULLTEXT index at a time.
 */
export function splitTable(name: string, create: string): TableDefinition {
  const { head, entries, tail } = entriesOf(create);
  const isIndex = (entry: string): boolean => /^(UNIQUE |FULLTEXT |SPATIAL )?KEY /.test(entry);
  const isForeignKey = (entry: string): boolean => /^CONSTRAINT `(?:[^`]|``)*` FOREIGN KEY /.test(entry);
  const afterwards = enginesIn(significant(tail))[0] === 'INNODB' && !keepsIndexes(entries);
  const later = (entry: string): boolean => isForeignKey(entry) || (afterwards && isIndex(entry));
  const indexes = entries.filter((entry) => isIndex(entry) && later(entry));
  const plain = indexes.filter((entry) => !entry.startsWith('FULLTEXT'));
  const fulltext = indexes.filter((entry) => entry.startsWith('FULLTEXT'));
  return {
    name,
    create: joinEntries({ head, entries: entries.filter((entry) => !later(entry)), tail }),
    indexes: [...(plain.length > 0 ? [plain] : []), ...fulltext.map((entry) => [entry])],
    foreignKeys: entries.filter(isForeignKey),
  };
}

/** One statement again, but for foreign keys: faster for tables with few rows. */
export function withIndexes(table: TableDefinition): TableDefinition {
  const { head, entries, tail } = entriesOf(table.create);
  return { ...table, create: joinEntries({ head, entries: [...entries, ...table.indexes.flat()], tail }), indexes: [] };
}

/**
 * Puts foreign keys into CREATE TABLE where both tables have all indexes: thousands of ALTER TABLE are slow. Needs
 * `foreign_key_checks = 0`.
 */
export function withForeignKeys(tables: TableDefinition[]): TableDefinition[] {
  const complete = new Set(tables.filter(({ indexes }) => indexes.length === 0).map(({ name }) => name));
  return tables.map((table) => {
    const isReady = (clause: string): boolean => complete.has(table.name) && complete.has(referredTable(clause) ?? '');
    const { head, entries, tail } = entriesOf(table.create);
    const create = joinEntries({ head, entries: [...entries, ...table.foreignKeys.filter(isReady)], tail });
    return { ...table, create, foreignKeys: table.foreignKeys.filter((clause) => !isReady(clause)) };
  });
}

function keepsIndexes(entries: string[]): boolean {
  const counted = entries.find(
    (entry) => entry.startsWith('`') && significant(entry).some((token) => isWord(token, 'AUTO_INCREMENT')),
  );
  const column = counted && significant(counted)[0]?.text;
  return column !== undefined && !entries.some((entry) => entry.startsWith(`PRIMARY KEY (${column}`));
}

/** Without the name of its own database, but for quoted texts. */
export function withoutDatabase(sql: string, database: string, mode: LexicalMode = {}): string {
  const tokens = [...tokensOf(sql, mode)];
  return joined(tokens, prefixesIn(tokens, [database]));
}

export function inOwnDatabase(create: string, own: { kind: string; databases: string[]; mode: LexicalMode }): string {
  const tokens = [...tokensOf(create, own.mode)];
  return joined(tokens, ownPrefixes(tokens, own));
}

export function joined(tokens: Token[], dropped: Set<number>): string {
  return tokens
    .filter((_, at) => !dropped.has(at))
    .map(({ text }) => text)
    .join('');
}

/** Words before a table or routine, never before a column. */
const BEFORE_TABLE = new Set(
  'FROM JOIN STRAIGHT_JOIN INTO UPDATE TABLE CALL VIEW TRIGGER PROCEDURE FUNCTION EVENT SEQUENCE BODY PACKAGE EXISTS NEXTVAL LASTVAL SETVAL'.split(
    ' ',
  ),
);

function prefixesIn(tokens: Token[], databases: string[]): Set<number> {
  const isName = (at: number): boolean => tokens[at]?.kind === 'name' && databases.includes(tokens[at]?.value ?? '');
  const isDot = (at: number): boolean => tokens[at]?.text === '.';
  const before = (at: number): Token | undefined =>
    tokens.slice(0, at).findLast(({ kind, text }) => kind !== 'space' && kind !== 'comment' && text !== '(');
  const isAmbiguous = tokens.some(
    (_, at) => isName(at) && !isDot(at - 1) && !isDot(at + 1) && before(at)?.value !== 'AS',
  );
  const isPrefix = (at: number): boolean => {
    if (!isName(at) || !isDot(at + 1) || isDot(at - 1)) return false;
    if (!isAmbiguous || isDot(at + 3) || tokens[at + 3]?.text === '(') return true;
    const word = before(at);
    return word?.kind === 'word' && BEFORE_TABLE.has(word.value);
  };
  return new Set(tokens.flatMap((_, at) => (isPrefix(at) ? [at, at + 1] : [])));
}

/** MariaDB stores the head of a trigger as written: `app.audit`, `app . audit`. In a body the name may be an alias. */
export function ownPrefixes(tokens: Token[], { kind, databases }: { kind: string; databases: string[] }): Set<number> {
  const dropped = prefixesIn(tokens, databases);
  if (kind !== 'TRIGGER') return dropped;
  const left = [...tokens.entries()].filter(
    ([at, token]) => !dropped.has(at) && token.kind !== 'space' && token.kind !== 'comment',
  );
  const head = left.findIndex(([, token]) => isWord(token, 'TRIGGER'));
  const on = left.findIndex(([, token], at) => at > head && isWord(token, 'ON'));
  for (const [at, [from, { kind: found, text, value }]] of left.entries()) {
    if (at <= head || at > on + 1 || left[at + 1]?.[1].text !== '.') continue;
    if (!databases.includes(found === 'name' ? value : text)) continue;
    const next = left[at + 2]?.[0] ?? from;
    for (let place = from; place < next; place += 1) dropped.add(place);
  }
  return dropped;
}

/** Only an administrator may create objects with another definer. */
export function withoutDefiner(create: string, mode: LexicalMode = {}): string {
  const tokens = significant(create, mode);
  const at = tokens.findIndex(({ kind, value }) => kind === 'word' && KINDS.has(value));
  const definer = tokens.slice(0, Math.max(0, at)).findIndex((token) => isWord(token, 'DEFINER'));
  if (definer === -1 || tokens[definer + 1]?.text !== '=') return create;
  const from = tokens[definer]?.at ?? 0;
  const end = tokens[definer + definerLength(tokens.slice(definer))]?.at ?? create.length;
  return create.slice(0, from) + create.slice(end);
}

const KINDS = new Set(['VIEW', 'TRIGGER', 'PROCEDURE', 'FUNCTION', 'EVENT', 'PACKAGE']);
