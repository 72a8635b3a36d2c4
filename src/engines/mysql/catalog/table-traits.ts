import type { TableDefinition } from './definitions/definitions.ts';
import { significant, type Token } from './definitions/tokens.ts';
import { BLACKHOLE, hasOwnRows, MERGE_ENGINES } from './own-rows.ts';

/**
 * Location of a table's rows by its definition: in the table, nowhere (BLACKHOLE), in other tables of the same
 * definitions (MERGE), or outside the database, which needs the user's consent.
 */
export type TableKind = 'own' | 'none' | 'merged' | 'remote';

/** Doubtful tables are remote, which are created on request only. */
export function kindsOf(tables: Pick<TableDefinition, 'name' | 'create'>[]): Map<string, TableKind> {
  const engines = new Map(tables.map(({ name, create }) => [name, enginesIn(significant(create))]));
  const mergeable = new Set(
    [...engines]
      .filter(([, [engine, ...more]]) => engine === 'MYISAM' && more.length === 0)
      .map(([name]) => folded(name)),
  );
  return new Map(tables.map(({ name, create }) => [name, kindOf(create, engines.get(name) ?? [], mergeable)]));
}

function kindOf(create: string, engines: string[], mergeable: Set<string>): TableKind {
  if (engines.every(hasOwnRows)) return 'own';
  if (engines.every((engine) => hasOwnRows(engine) || engine === BLACKHOLE)) return 'none';
  const [engine = '', ...more] = engines;
  if (more.length > 0 || !MERGE_ENGINES.has(engine)) return 'remote';
  const tokens = significant(create);
  const union = unionIn(tokens);
  // An unreadable or second list may name any table.
  const lists = tokens.filter(({ kind, value }) => kind === 'word' && value === 'UNION').length;
  if (lists > (union ? 1 : 0)) return 'remote';
  const isHere = ({ database, table }: MergedTable): boolean => database === null && mergeable.has(folded(table));
  return (union?.tables ?? []).every(isHere) ? 'merged' : 'remote';
}

export function enginesIn(tokens: Token[]): string[] {
  return tokens.flatMap(({ kind, value }, at) =>
    kind === 'word' && (value === 'ENGINE' || value === 'TYPE') ? [engineAfter(tokens, at)] : [],
  );
}

/** After the word at `at`: `= InnoDB`, `InnoDB`, `'InnoDB'`. */
export function engineAfter(tokens: Token[], at: number): string {
  const [first, second] = tokens.slice(at + 1);
  const engine = first?.text === '=' ? second : first;
  return (engine?.kind === 'text' ? engine.text.slice(1, -1) : (engine?.value ?? '')).toUpperCase();
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
  const from = tokens.findIndex(({ kind, value }) => kind === 'word' && value === 'UNION');
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
