import type { Command, Mount } from '../../../process/runner.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { prepareSession } from '../../shared/connection/prepare-session.ts';
import { startDirect } from './direct-exchange.ts';
import { LOGIN_TIMEOUT_MS } from './exchange.ts';
import { copyingToFile, type OutputFile, startPsql } from './psql-exchange.ts';
import { connectionEnvironment, type SessionSettings } from './url.ts';

/**
 * A connection that follows libpq's rules (host lists, service files, GSS, sockets) as pg_dump and pg_restore do: of our own
 * where nothing but the URL determines it, else through psql, which runs where they run.
 */
export interface PostgresSession extends AsyncDisposable {
  /** `told` is logged in place of the statement. */
  query<Row>(sql: string, options?: { told?: string }): Promise<Row[]>;
  /** Passes on the output of `COPY … TO STDOUT`, in whole lines; the memory is reused afterwards. */
  lines(statement: string, take: (lines: Buffer) => void): Promise<void>;
  /** psql itself writes the output of `COPY … TO STDOUT` into a file, and the ending only behind a whole output. */
  copyToFile(statement: string, file: OutputFile): Promise<void>;
  execute(statement: string): Promise<void>;
  /** Executes a statement from outside, which psql sends unread. */
  executeForeign(statement: string): Promise<void>;
  transaction(statements: string[]): Promise<void>;
  close(): Promise<void>;
}

export interface SessionOptions {
  psql: string | Promise<string>;
  url: DatabaseUrl;
  settings?: SessionSettings;
  /** Refuses views and foreign tables, where the server can: in place of a table they would run code of their owner. */
  tablesOnly?: boolean | undefined;
  /** Mounts of the folders that psql writes files to. Without them there may be no psql. */
  mounts?: Mount[] | undefined;
}

/** No start-up file, no prompt, bare values; psql continues after an error. */
export const PSQL_FLAGS = ['--no-psqlrc', '--no-password', '--quiet', '--no-align', '--tuples-only'];

/** Settings of a role or database must not change the meaning of expressions and the names of objects. */
export const PLAIN_MEANING: SessionSettings = {
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
};

export const SESSION_SETTINGS: SessionSettings = {
  search_path: 'pg_catalog',
  client_min_messages: 'warning',
  standard_conforming_strings: 'on',
  ...PLAIN_MEANING,
  // Statements about catalogs take longer to compile than to execute.
  jit: 'off',
};

const STATEMENT_LIMITS: SessionSettings = { statement_timeout: '10min' };
/** The client encoding for SQL_ASCII databases: with UTF-8 the server would refuse to send bytes that are not UTF-8. */
const READ_RAW = `SELECT set_config('client_encoding', 'SQL_ASCII', false) WHERE current_setting('server_encoding') = 'SQL_ASCII'`;
/** Disk space for sorts. Only a superuser may set it. */
const LIMIT_TEMPORARY_FILES = `SELECT set_config('temp_file_limit', '2GB', false) WHERE current_setting('is_superuser') = 'on'`;

/** Limits of a role or database, which would end sessions that wait for the work of others. Older servers lack some. */
const STAY_OPEN = `SELECT set_config(name, '0', false) FROM (VALUES ('idle_session_timeout'),
  ('idle_in_transaction_session_timeout'), ('transaction_timeout')) AS v (name) WHERE current_setting(name, true) IS NOT NULL`;

/** Sets what pg_dump sets. */
export const TABLES_ONLY = `SELECT pg_catalog.set_config(name, 'view, foreign-table', false) FROM pg_catalog.pg_settings
  WHERE name OPERATOR(pg_catalog.=) 'restrict_nonsystem_relation_kind'`;

type SessionContext = Pick<EngineContext, 'runner' | 'environment' | 'report' | 'signal'>;

function psqlOf(
  { psql, url, settings, mounts = [] }: SessionOptions & { psql: string },
  { PGCONNECT_TIMEOUT = `${LOGIN_TIMEOUT_MS / 1000}` }: NodeJS.ProcessEnv,
): Command {
  const connection = connectionEnvironment(url, settings);
  return {
    file: psql,
    ...connection,
    env: { ...connection.env, PGCONNECT_TIMEOUT },
    args: [...PSQL_FLAGS, ...connection.args],
    mounts: [...connection.mounts, ...mounts],
  };
}

export async function openSession(
  context: SessionContext,
  { psql, url, settings = {}, mounts, tablesOnly = false }: SessionOptions,
): Promise<PostgresSession> {
  const all = { ...SESSION_SETTINGS, ...STATEMENT_LIMITS, ...settings };
  // It may still be looked for, and no session is without it.
  const program = Promise.resolve(psql);
  program.catch(() => {});
  const direct = mounts ? null : await startDirect(context, { url, settings: all });
  const file = await program.catch(async (error) => {
    await direct?.close();
    throw error;
  });
  const { send, close } =
    direct ?? startPsql(context, psqlOf({ psql: file, url, settings: all, mounts }, context.environment));
  const session: PostgresSession = {
    async query<Row>(sql: string, options?: { told?: string }) {
      return JSON.parse(await send(`SELECT coalesce(json_agg(q), '[]') FROM (${sql}) q`, options)) as Row[];
    },
    async lines(statement, take) {
      await send(statement, { take });
    },
    async copyToFile(statement, file) {
      await send(statement, { take: () => {}, script: copyingToFile(statement, file) });
    },
    async execute(statement) {
      await send(statement);
    },
    async executeForeign(statement) {
      await send(statement, { isForeign: true });
    },
    async transaction(statements) {
      try {
        // Without its transaction each of the others would be committed alone.
        await send('BEGIN');
        // Sent together: behind one that fails, the server refuses the others, and COMMIT ends what was begun.
        await Promise.all([...statements, 'COMMIT'].map((statement) => send(statement)));
      } catch (error) {
        await send('ROLLBACK').catch(() => {});
        throw error;
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  const prepared = [
    ...('statement_timeout' in settings ? [] : [LIMIT_TEMPORARY_FILES]),
    ...(tablesOnly ? [TABLES_ONLY] : []),
    READ_RAW,
    STAY_OPEN,
  ];
  return prepareSession(session, () => session.execute(prepared.join(';\n')));
}
