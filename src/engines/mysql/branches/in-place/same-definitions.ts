import { isDeepStrictEqual } from 'node:util';
import type { Code, Definitions } from '../../catalog/definitions/definitions.ts';
import { readDefinitions } from '../../catalog/definitions/read-definitions.ts';
import { withSequencesOwn } from '../../catalog/definitions/sequence-defaults.ts';
import { withoutDefiner } from '../../catalog/definitions/statement-text.ts';
import { lexicalModeOf, tokensOf } from '../../catalog/definitions/tokens.ts';
import { readRights } from '../../catalog/rights/rights.ts';
import { inDatabase } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { counterOf, withoutCounter } from '../../restore/stored-table.ts';
import type { BaseRecord } from '../base/base-record.ts';

const KINDS = ['routines', 'views', 'triggers', 'events'] as const;

export interface SameDefinitions {
  /** The next value of AUTO_INCREMENT after the load, of tables where it is another one now. */
  counters: Map<string, string>;
  triggered: Set<string>;
  /** Tables with a FULLTEXT index. */
  searched: Set<string>;
  partitioned: Set<string>;
}

/** Compares the definitions of the destination with those after its load; returns how they differ. A doubt is a reason. */
export async function compareDefinitions(
  server: MysqlSession,
  destination: string,
  { definitions, definers }: BaseRecord,
): Promise<SameDefinitions | string> {
  const rights = await readRights(server);
  // The server lists triggers only to users with this right.
  if (!rights.onDatabase(destination, 'TRIGGER')) return 'the user may not see triggers';
  let unreadable = false;
  const read = await readDefinitions(server, destination, () => {
    unreadable = true;
  });
  if (unreadable) return 'definitions cannot be read';
  const present = withSequencesOwn(read, destination);
  if (definitions.sequences.length > 0 || present.sequences.length > 0) return 'no transaction sets sequences';
  if (!isDeepStrictEqual(tablesOf(definitions), tablesOf(present))) return 'definitions of tables differ';
  if (definitions.collation !== present.collation) return 'the collation of the database differs';
  for (const kind of KINDS) {
    const [before, now] = [definitions[kind], present[kind]].map((codes) =>
      codes.map((code) => textOf(code, definers)),
    );
    if (!isDeepStrictEqual(before, now)) return `definitions of ${kind} differ`;
  }
  const codes = KINDS.flatMap((kind) => present[kind]);
  if (definers === 'mine' && codes.some((code) => definerOf(code) !== rights.account)) return 'definers differ';
  return {
    counters: changedCounters(definitions, present),
    triggered: present.triggers.length > 0 ? await tablesWithTriggers(server, destination) : new Set(),
    searched: new Set(present.tables.filter(isSearched).map(({ name }) => name)),
    partitioned: new Set(present.tables.filter(isPartitioned).map(({ name }) => name)),
  };
}

function tablesOf({ tables }: Definitions): unknown[] {
  return tables.map(({ name, create, indexes, foreignKeys }) => [name, withoutCounter(create), indexes, foreignKeys]);
}

/** The blanks around a definer are not the same everywhere. */
function textOf(code: Code, definers: BaseRecord['definers']): unknown[] {
  const { kind, name, create, sql_mode, charset, collation, time_zone, bytes, database_collation } = code;
  const mode = lexicalModeOf(sql_mode);
  const text = definers === 'mine' ? withoutDefiner(create, mode) : create;
  const tokens = [...tokensOf(text, mode)].map((token) => (token.kind === 'space' ? ' ' : token.text)).join('');
  return [
    kind,
    name,
    tokens.replace(/^CREATE +/, 'CREATE '),
    sql_mode,
    charset,
    collation,
    time_zone,
    bytes,
    database_collation,
  ];
}

function definerOf({ create }: Code): string | undefined {
  const [, definer] = /^CREATE (?:ALGORITHM=\w+ )?DEFINER=(`(?:[^`]|``)*`@`(?:[^`]|``)*`)/.exec(create) ?? [];
  return definer;
}

function isSearched({ create, indexes }: Definitions['tables'][number]): boolean {
  return [create, ...indexes.flat()].some((text) => text.includes('FULLTEXT KEY'));
}

/** EXCHANGE PARTITION … WITHOUT VALIDATION puts rows where no search by their key finds them. */
export function isPartitioned({ create }: Pick<Definitions['tables'][number], 'create'>): boolean {
  return create.includes('PARTITION BY');
}

function changedCounters(before: Definitions, present: Definitions): Map<string, string> {
  const now = new Map(present.tables.map(({ name, create }) => [name, counterOf(create)]));
  return new Map(
    before.tables.flatMap(({ name, create }) => {
      const counter = counterOf(create);
      return now.get(name) === counter ? [] : [[name, counter] as const];
    }),
  );
}

async function tablesWithTriggers(server: MysqlSession, database: string): Promise<Set<string>> {
  const rows = await server.query<{ name: string }>(
    `SELECT DISTINCT EVENT_OBJECT_TABLE AS name FROM information_schema.TRIGGERS WHERE ${inDatabase('EVENT_OBJECT_SCHEMA', database)}`,
  );
  return new Set(rows.map(({ name }) => name));
}
