import type { TableDefinition } from './definitions/definitions.ts';
import { isWord, significant, type Token } from './definitions/tokens.ts';

/** Storage engines with rows in the server's data folder. */
export const ENGINES_WITH_ROWS = new Set(
  'INNODB MYISAM ARIA MEMORY HEAP ARCHIVE CSV ROCKSDB TOKUDB COLUMNSTORE MROONGA NDB NDBCLUSTER'.split(' '),
);
const BLACKHOLE = 'BLACKHOLE';
/** Show the rows of MyISAM tables. */
const MERGE_ENGINES = new Set(['MRG_MYISAM', 'MERGE']);

/**
 * Reports whether tables of the engine have rows of their own. For all other engines, unknown ones included, only the
 * definition is transferred: their rows belong to other tables, servers or files.
 */
export function hasOwnRows(engine: string): boolean {
  return ENGINES_WITH_ROWS.has(engine.toUpperCase());
}

/** Reports whether a table whose rows are stored so may name the engine. */
export function permitsEngine(storage: RowStorage, engine: string): boolean {
  if (hasOwnRows(engine) || engine === BLACKHOLE) return true;
  return storage === 'merged' ? MERGE_ENGINES.has(engine) : storage === 'remote' && /^[A-Z0-9_]+$/.test(engine);
}

/**
 * Location of a table's rows by its definition: in the table, nowhere (BLACKHOLE), in other tables of the same
 * definitions (MERGE), or outside the database, which needs the user's consent.
 */
export type RowStorage = 'own' | 'none' | 'merged' | 'remote';

export interface TableTraits {
  /** In upper case; partitions name theirs again. */
  engines: string[];
  storage: RowStorage;
  isVersioned: boolean;
}

/** Traits by name, of tables that no server has created yet (`tables.ts` has those of a server). Doubtful tables are remote. */
export function traitsOf(tables: Pick<TableDefinition, 'name' | 'create'>[]): Map<string, TableTraits> {
  const read = tables.map(({ name, create }) => {
    const tokens = significant(create);
    return { name, tokens, engines: enginesIn(tokens) };
  });
  const myisam = read.filter(({ engines: [engine, ...more] }) => engine === 'MYISAM' && more.length === 0);
  const mergeable = new Set(myisam.map(({ name }) => folded(name)));
  return new Map(
    read.map(({ name, tokens, engines }) => [
      name,
      { engines, storage: storageOf(tokens, engines, mergeable), isVersioned: isVersioned(tokens) },
    ]),
  );
}

function storageOf(tokens: Token[], engines: string[], mergeable: Set<string>): RowStorage {
  if (engines.every(hasOwnRows)) return 'own';
  if (engines.every((engine) => permitsEngine('none', engine))) return 'none';
  const [engine = '', ...more] = engines;
  if (more.length > 0 || !MERGE_ENGINES.has(engine)) return 'remote';
  const union = unionIn(tokens);
  // An unreadable or second list may name any table.
  const lists = tokens.filter((token) => isWord(token, 'UNION')).length;
  if (lists > (union ? 1 : 0)) return 'remote';
  const isHere = ({ database, table }: MergedTable): boolean => database === null && mergeable.has(folded(table));
  return (union?.tables ?? []).every(isHere) ? 'merged' : 'remote';
}

function isVersioned(tokens: Token[]): boolean {
  return tokens.some(
    (token, at) => isWord(token, 'WITH') && isWord(tokens[at + 1], 'SYSTEM') && isWord(tokens[at + 2], 'VERSIONING'),
  );
}

export function enginesIn(tokens: Token[]): string[] {
  return tokens.flatMap((token, at) => (isWord(token, 'ENGINE', 'TYPE') ? [engineAfter(tokens, at)] : []));
}

/** After the word at `at`: `= InnoDB`, `InnoDB`, `'InnoDB'`. */
export function engineAfter(tokens: Token[], at: number): string {
  const [first, second] = tokens.slice(at + 1);
  const engine = first?.text === '=' ? second : first;
  return (engine?.kind === 'text' ? engine.text.slice(1, -1) : (engine?.value ?? '')).toUpperCase();
}

/** The tables in the order of creation: MERGE tables after those that they list. */
export function inCreationOrder<Table extends Pick<TableDefinition, 'name' | 'create'>>(
  tables: Table[],
): [others: Table[], merged: Table[]] {
  const traits = traitsOf(tables);
  const isMerged = ({ name }: Table): boolean => traits.get(name)?.storage === 'merged';
  return [tables.filter((table) => !isMerged(table)), tables.filter(isMerged)];
}

interface MergedTable {
  database: string | null;
  table: string;
}

export interface Union {
  tables: MergedTable[];
  from: number;
  to: number;
}

/** ``UNION=(`a`,`other`.`b`)`` among the options of a MERGE table; `null` without one. */
export function unionIn(tokens: Token[]): Union | null {
  const from = tokens.findIndex((token) => isWord(token, 'UNION'));
  if (from === -1 || tokens[from + 1]?.text !== '=' || tokens[from + 2]?.text !== '(') return null;
  const tables: MergedTable[] = [];
  for (let at = from + 3; ; ) {
    const [first, dot, second] = tokens.slice(at, at + 3);
    if (first?.kind !== 'name') return null;
    const isQualified = dot?.text === '.';
    if (isQualified && second?.kind !== 'name') return null;
    tables.push(
      isQualified ? { database: first.value, table: second?.value ?? '' } : { database: null, table: first.value },
    );
    at += isQualified ? 3 : 1;
    const after = tokens[at]?.text;
    if (after === ')') return { tables, from, to: at };
    if (after !== ',') return null;
    at += 1;
  }
}

/** Some servers store table names in lower case. */
function folded(name: string): string {
  return name.toLowerCase();
}
