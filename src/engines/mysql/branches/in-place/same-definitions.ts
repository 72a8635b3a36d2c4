import { isDeepStrictEqual } from 'node:util';
import type { Code, CodeDefinitions } from '../../catalog/definitions/definitions.ts';
import { readDefinitions } from '../../catalog/definitions/read-definitions.ts';
import { withSequencesOwn } from '../../catalog/definitions/sequence-defaults.ts';
import { withoutDefiner } from '../../catalog/definitions/statement-text.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { withoutCounter } from '../../restore/stored-table.ts';
import type { BaseRecord } from '../base-record.ts';

const KINDS = ['routines', 'views', 'triggers', 'events'] as const;

/** Returns why the definitions of the destination are not those after its load; a doubt is a reason. */
export async function whyDefinitionsDiffer(
  server: MysqlSession,
  destination: string,
  { definitions, definers }: BaseRecord,
): Promise<string | null> {
  let unreadable = false;
  const read = await readDefinitions(server, destination, () => {
    unreadable = true;
  });
  if (unreadable) return 'definitions cannot be read';
  const present = withSequencesOwn(read, destination);
  if (definitions.sequences.length > 0 || present.sequences.length > 0) return 'no transaction sets sequences';
  const tablesOf = ({ tables }: typeof definitions): string[] =>
    tables
      .map(({ create, indexes, foreignKeys }) => JSON.stringify([withoutCounter(create), indexes, foreignKeys]))
      .sort();
  if (!isDeepStrictEqual(tablesOf(definitions), tablesOf(present))) return 'definitions of tables differ';
  for (const kind of KINDS) {
    if (!isDeepStrictEqual(codeIn(definitions, kind), codeIn(present, kind))) return `definitions of ${kind} differ`;
  }
  const others = definers === 'mine' && new Set(KINDS.flatMap((kind) => present[kind].flatMap(definerOf))).size > 1;
  return others ? 'definers differ' : null;
}

function codeIn(definitions: CodeDefinitions, kind: (typeof KINDS)[number]): string[] {
  return definitions[kind]
    .map(({ name, create, sql_mode, charset, collation, time_zone }) =>
      JSON.stringify([name, withoutDefiner(create).replaceAll(/\s+/g, ' '), sql_mode, charset, collation, time_zone]),
    )
    .sort();
}

function definerOf({ create }: Code): string[] {
  const [, definer] = /^\w+ (?:OR REPLACE )?(?:ALGORITHM ?= ?\w+ )?DEFINER ?= ?(`[^`]*`@`[^`]*`)/.exec(create) ?? [];
  return definer === undefined ? [] : [definer];
}
