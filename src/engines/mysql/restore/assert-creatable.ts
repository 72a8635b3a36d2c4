import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { firstLines } from '../../shared/verify.ts';
import { checkCode } from '../catalog/definitions/check-definitions.ts';
import { createCode } from '../catalog/definitions/code.ts';
import type { Code, CodeDefinitions, Definitions, TableDefinition } from '../catalog/definitions/definitions.ts';
import { mayBePast, withEventsDisabled } from '../catalog/definitions/events.ts';
import { isWord, significant } from '../catalog/definitions/tokens.ts';
import { connect } from '../connection/connect.ts';
import { DENIED } from '../connection/error-numbers.ts';
import { inDatabase } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { dropAllCode } from '../swap/try-code.ts';

/**
 * Rejects, before any rows, when the server refuses objects of a snapshot whatever else is there: tables without a
 * primary key, functions and triggers where changes are logged. `url` is the shadow database, which is empty.
 */
export async function assertCreatable(
  context: { signal: AbortSignal },
  { url, definitions }: { url: DatabaseUrl; definitions: Definitions },
) {
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

async function assertProgramsCreatable(session: MysqlSession, database: string, definitions: Definitions) {
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

interface TrialOptions {
  /** A shadow database. */
  url: DatabaseUrl;
  code: CodeDefinitions;
  /** Rejects also where the user may not create events beside the destination. */
  needed: boolean;
}

/**
 * Creates every event in the shadow database, disabled, one statement at a time, and has the server's catalog confirm
 * that none of them runs: before the swap, since afterwards the destination would have them.
 */
export async function tryEvents(context: EngineContext, { url, code: given, needed }: TrialOptions): Promise<void> {
  if (given.events.length === 0) return;
  await using session = await connect(context, url);
  const code = checkCode({
    ...withEventsDisabled(given),
    ...{ routines: [], views: [], triggers: [], dangling: [], defaults: [] },
  });
  const refusals: { text: string; denied: boolean }[] = [];
  await createCode(session, code, {
    definers: 'mine',
    refused: ({ name }, { errno, message }) =>
      refusals.push({ text: `event ${name}: ${message}`, denied: DENIED.has(errno) }),
  });
  const relevant = refusals.filter(({ denied }) => needed || !denied);
  if (relevant.length > 0)
    throw restoreFailed(
      'Cannot create an event',
      relevant.map(({ text }) => text),
    );
  if (refusals.length > 0) return;
  const states = await statesOf(session, url.database ?? '');
  const differences = code.events.flatMap((event) => {
    const state = states.get(event.name.toLowerCase());
    if (state === undefined) return mayBePast(event) ? [] : [`event ${event.name} is missing`];
    return state === 'ENABLED' ? [`event ${event.name} is not disabled`] : [];
  });
  const known = new Set(code.events.map(({ name }) => name.toLowerCase()));
  differences.push(
    ...[...states.keys()].filter((name) => !known.has(name)).map((name) => `event ${name} is not known`),
  );
  if (differences.length > 0) throw restoreFailed('The events are not those of the snapshot', differences);
}

/** By names in lower case, which the server compares so. */
async function statesOf(session: MysqlSession, database: string): Promise<Map<string, string>> {
  const rows = await session.query<{ name: string; state: string }>(
    `SELECT EVENT_NAME AS name, STATUS AS state FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', database)}`,
  );
  return new Map(rows.map(({ name, state }) => [name.toLowerCase(), state]));
}
