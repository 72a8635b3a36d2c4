import { setTimeout as wait } from 'node:timers/promises';
import { migrateQueue } from './database/builds/queue.ts';
import {
  grantTo,
  migrate as migrateDatabase,
  openDatabase,
  removeOldAudit,
  withMigrationLock,
} from './database/database.ts';
import { rewrapSecrets } from './database/secrets.ts';
import { readMigrationSettings } from './settings/settings.ts';

export interface MigrationResult {
  /** Names of the migrations that were executed. */
  migrations: string[];
  /** Secrets whose data key is now wrapped by the newest hub key. */
  rewrapped: number;
}

/** A migration of a large table takes its time. */
const STATEMENT_TIMEOUT = 3_600_000;

/** Milliseconds between two attempts to get the lock. */
const LOOK_EVERY = 200;

/** Brings the schema up to date, grants the rights of `serve`, and wraps the data keys with the newest hub key. */
export async function migrate(environment: NodeJS.ProcessEnv): Promise<MigrationResult> {
  const { databaseUrl, keys, role } = await readMigrationSettings(environment);
  await using database = openDatabase(databaseUrl, { statementTimeout: STATEMENT_TIMEOUT });
  const { db } = database;
  const migrated: MigrationResult = { migrations: [], rewrapped: 0 };
  const work = async (): Promise<void> => {
    migrated.migrations = await migrateDatabase(db);
    await migrateQueue(databaseUrl);
    if (role !== null) await grantTo(db, role);
    await removeOldAudit(db);
    migrated.rewrapped = await rewrapSecrets(db, keys);
  };
  // A statement that waits has a snapshot, and an index of the queue that is built concurrently would wait for it.
  while (!(await withMigrationLock(db, work))) await wait(LOOK_EVERY);
  return migrated;
}
