import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import { firstLines } from '../../shared/verify.ts';
import { createCode } from '../catalog/definitions/code.ts';
import type { Code, Definitions, TableDefinition } from '../catalog/definitions/definitions.ts';
import { isWord, significant } from '../catalog/definitions/tokens.ts';
import { connect } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { dropAllCode } from '../swap/try-code.ts';

/**
 * Rejects, before any rows, when the server refuses objects of a snapshot whatever else is there: tables without a
 * primary key, functions and triggers where changes are logged. `url` is the shadow database, which is empty.
 */
export async function assertCreatable(
  context: { signal: AbortSignal },
  { url, definitions }: { url: DatabaseUrl; definitions: Definitions },
): Promise<void> {
  await using session = await connect(context, url);
  await assertPrimaryKeys(session, definitions.tables);
  await assertProgramsCreatable(session, url.database ?? '', definitions);
}

async function assertPrimaryKeys(session: MysqlSession, tables: TableDefinition[]): Promise<void> {
  const [needed] = await session.query<{ Value: string }>("SHOW VARIABLES LIKE 'sql_require_primary_key'");
  if (needed?.Value !== 'ON') return;
  const without = tables.filter(({ create }) => !hasPrimaryKey(create)).map(({ name }) => name);
  if (without.length === 0) return;
  throw uncreatable('tables without a primary key (sql_require_primary_key)', without, {
    hint: 'Give them a primary key in the source and build again, or set sql_require_primary_key = OFF on the server.',
  });
}

function hasPrimaryKey(create: string): boolean {
  const tokens = significant(create);
  return tokens.some((token, at) => isWord(token, 'PRIMARY') && isWord(tokens[at + 1], 'KEY'));
}

/** Creates a function, as a user without SUPER may create triggers where it may create functions. */
const PROBE: Code = {
  ...{ kind: 'FUNCTION', name: 'tool-probe', create: 'CREATE FUNCTION `tool-probe`() RETURNS INT NO SQL RETURN 1' },
  ...{ sql_mode: null, charset: null, collation: null, time_zone: null },
};
/** `ER_BINLOG_UNSAFE_ROUTINE`, `ER_BINLOG_CREATE_ROUTINE_NEED_SUPER`. */
const LOGGED = new Set([1418, 1419]);

async function assertProgramsCreatable(
  session: MysqlSession,
  database: string,
  definitions: Definitions,
): Promise<void> {
  const functions = definitions.routines.filter(({ kind }) => kind === 'FUNCTION');
  const { triggers } = definitions;
  const probes = triggers.length > 0 ? [PROBE] : [];
  if (functions.length + probes.length === 0) return;
  const refused: string[] = [];
  const code = { ...definitions, routines: [...functions, ...probes] };
  await createCode(
    session,
    { ...code, views: [], triggers: [], events: [], dangling: [], defaults: [] },
    {
      definers: 'mine',
      refused({ name }, { errno }) {
        if (LOGGED.has(errno)) refused.push(name);
      },
    },
  );
  await dropAllCode(session, database);
  const names = [
    ...functions.filter(({ name }) => refused.includes(name)).map(({ name }) => `function ${name}`),
    ...(refused.includes(PROBE.name) ? triggers.map(({ name }) => `trigger ${name}`) : []),
  ];
  if (names.length === 0) return;
  throw uncreatable('functions and triggers of this user, because it logs changes (log_bin)', names, {
    hint: 'Set log_bin_trust_function_creators = 1 on the server. Triggers, and functions that are DETERMINISTIC, NO SQL or READS SQL DATA, also load as a user with SUPER.',
  });
}

function uncreatable(what: string, names: string[], { hint }: { hint: string }): UserError {
  return new UserError('objects_refused', `The server refuses ${what}`, {
    details: firstLines(names),
    hint: `The destination is unchanged. ${hint}`,
  });
}
