import { Kysely, PostgresDialect, type RawBuilder, sql, type Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import packageOfQueue from 'pg-boss/package.json' with { type: 'json' };
import { UserError } from '../../src/runtime/errors.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
export type Connection = Database | Transaction<Tables>;

const CONNECTIONS = 10;
const STATEMENT_TIMEOUT = 5000;
const CONNECTION_TIMEOUT = 5000;

/** Schema of pg-boss. */
export const QUEUE_SCHEMA = 'pgboss';

export const JOB = sql.id(QUEUE_SCHEMA, 'job');

/** Counts and revisions fit into a number. */
const INT8 = 20;

export interface OpenedDatabase extends AsyncDisposable {
  db: Database;
  /** Connections in use and requests that wait for one. */
  pool: () => { total: number; idle: number; waiting: number };
}

export function openDatabase(
  url: string,
  { connections = CONNECTIONS, statementTimeout = STATEMENT_TIMEOUT, name = 'tool hub' } = {},
): OpenedDatabase {
  const pool = openPool(url, { connections, statementTimeout, name });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    [Symbol.asyncDispose]: () => db.destroy(),
  };
}

export function openPool(
  url: string,
  { connections, statementTimeout, name }: { connections: number; statementTimeout: number; name: string },
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: 30_000,
    application_name: name,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  });
  // An idle connection that breaks: the next request opens another.
  pool.on('error', () => {});
  // One that breaks between two statements of a transaction: the next statement fails. Without this the process ends.
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

/** `WITH` and statements that the statement after them executes in the same round trip; none sees what another writes. */
export function withParts(parts: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`WITH ${sql.join(parts.map((part, index) => sql`${sql.id(`part_${index}`)} AS (${part})`))}`;
}

/**
 * Names the transactions of the server that have ended. Two equal names mean that none that writes has ended in between, in
 * whichever session; a restarted server may give the same number to another
 * transaction. A crash with `synchronous_commit = off` may, too.
 */
export async function readCommittedState(db: Database): Promise<string> {
  const { rows } = await sql<{ state: string }>`SELECT concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time())
    AS state`.execute(db);
  return rows[0]?.state ?? '';
}

function migrator(db: Database): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
}

/** Throws where a newer version of the program has migrated the schema of the hub, or that of the queue. */
export async function assertKnownSchema(db: Database): Promise<void> {
  const details = (await executedMigrations(db))
    .filter((name) => !Object.hasOwn(MIGRATIONS, name))
    .map((name) => `Migration ${name} is unknown to this version`);
  const queue = sql.id(QUEUE_SCHEMA, 'version');
  if (await hasTable(db, `${QUEUE_SCHEMA}.version`)) {
    const { rows } = await sql<{ version: number }>`SELECT version FROM ${queue}`.execute(db);
    const [known, found = known] = [packageOfQueue.pgboss.schema, rows[0]?.version];
    if (found > known) details.push(`The schema of the queue is ${found}; this version has ${known}`);
  }
  if (details.length === 0) return;
  throw new UserError('hub_schema_newer', 'The schema of the database of the hub is of a newer version of tool', {
    details: details.slice(0, 3),
    hint: 'Install that version of tool, or restore a backup of the database from before its migration.',
  });
}

/** Names of the migrations that were executed. */
export async function migrate(db: Database): Promise<string[]> {
  await assertKnownSchema(db);
  const { error, results = [] } = await migrator(db).migrateToLatest();
  const failed = results.find(({ status }) => status === 'Error');
  if (error) {
    throw new UserError(
      'hub_migration_failed',
      `Cannot migrate the database of the hub${failed ? ` (${failed.migrationName})` : ''}`,
      {
        details: [error instanceof Error ? error.message : String(error)],
        hint: 'Nothing of the failed migration remains. Fix the cause, then run: tool hub migrate',
        cause: error,
      },
    );
  }
  return results.map(({ migrationName }) => migrationName);
}

/** Runs `work` while no other migration does; `false` when one does. Two at once would change the same rights. */
export function withMigrationLock(db: Database, work: () => Promise<void>): Promise<boolean> {
  return withLock(db, { key: sql`hashtextextended('tool hub migrate', 0)`, wait: false }, work);
}

/** Runs `work` while no other connection holds the advisory lock; `false` when one does and this one does not wait. */
export async function withLock(
  db: Database,
  { key, wait }: { key: RawBuilder<unknown>; wait: boolean },
  work: () => Promise<void>,
): Promise<boolean> {
  return db.connection().execute(async (connection) => {
    const locked = wait ? sql`pg_advisory_lock(${key}) IS NOT NULL` : sql`pg_try_advisory_lock(${key})`;
    const { rows } = await sql<{ locked: boolean }>`SELECT ${locked} AS locked`.execute(connection);
    if (rows[0]?.locked !== true) return false;
    try {
      await work();
    } finally {
      // On a connection that broke there is no lock either.
      await sql`SELECT pg_advisory_unlock(${key})`.execute(connection).catch(() => {});
    }
    return true;
  });
}

export async function isMigrated(db: Database): Promise<boolean> {
  const names = new Set(await executedMigrations(db));
  return Object.keys(MIGRATIONS).every((name) => names.has(name));
}

async function executedMigrations(db: Database): Promise<string[]> {
  if (!(await hasTable(db, 'kysely_migration'))) return [];
  const done = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(db);
  return done.rows.map(({ name }) => name);
}

async function hasTable(db: Database, name: string): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`SELECT to_regclass(${name}) IS NOT NULL AS there`.execute(db);
  return rows[0]?.there === true;
}

/** The audit is insert and select only for who serves; who migrates removes what is too old. */
const KEPT_AUDIT_DAYS = 400;

export async function removeOldAudit(db: Database): Promise<void> {
  await sql`DELETE FROM audit_events WHERE at < now() - make_interval(days => ${KEPT_AUDIT_DAYS})`.execute(db);
}

/** Gives the role of `tool hub serve` what it needs, and no more. */
export async function grantTo(db: Database, role: string): Promise<void> {
  const tables = ['users', 'tokens', 'spent_id_tokens', 'storage_profiles', 'secrets', 'targets', 'objects'];
  const all = [
    ...tables,
    'snapshots',
    'snapshot_objects',
    'images',
    'image_objects',
    'sweeps',
    'refused_sign_ins',
    'builds',
  ];
  const to = sql.id(role);
  for (const table of all) {
    await sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ${sql.id(table)} TO ${to}`.execute(db);
  }
  await sql`GRANT SELECT, INSERT ON audit_events TO ${to}`.execute(db);
  await sql`GRANT SELECT ON kysely_migration TO ${to}`.execute(db);
  await sql`GRANT USAGE ON SCHEMA public TO ${to}`.execute(db);
  await sql`GRANT USAGE ON SCHEMA ${sql.id(QUEUE_SCHEMA)} TO ${to}`.execute(db);
  await sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${sql.id(QUEUE_SCHEMA)} TO ${to}`.execute(db);
  await sql`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${sql.id(QUEUE_SCHEMA)} TO ${to}`.execute(db);
}
