import type { ReconcileResult } from '../../src/results/cloud-results.ts';
import { type Report, withStep } from '../../src/runtime/events.ts';
import { openDatabase } from '../database/database.ts';
import { createBuckets } from '../objects/buckets.ts';
import { assertReady } from '../ready.ts';
import { readMigrationSettings } from '../settings/settings.ts';
import { reconcileAll } from './reconcile.ts';

/** A comparison of a large target takes its time. */
const STATEMENT_TIMEOUT = 600_000;

/** `tool hub reconcile`: with the database and the keys of the settings. */
export async function reconcile({
  environment,
  report,
  signal,
}: {
  environment: NodeJS.ProcessEnv;
  report: Report;
  signal: AbortSignal;
}): Promise<ReconcileResult> {
  const { databaseUrl, keys, trustedKeys } = await readMigrationSettings(environment);
  await using database = openDatabase(databaseUrl, { statementTimeout: STATEMENT_TIMEOUT });
  const { db } = database;
  await assertReady(db, { keys });
  // Without await the connection would be closed before.
  const work = () => reconcileAll({ db, buckets: createBuckets(db, keys), trustedKeys, report, signal });
  const label = 'Compare the database with the buckets';
  return await withStep(report, { step: 'reconcile', label, done: 'Compared the database with the buckets' }, work);
}
