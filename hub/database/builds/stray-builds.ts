import { sql } from 'kysely';
import { type Database, JOB } from '../database.ts';
import { lockTarget } from '../targets/targets.ts';
import { type Queue, queueAgain, queueOf } from './queue.ts';

/** A job of pg-boss. */
export interface StrayBuild {
  id: string;
  /** Name of its queue. */
  name: string;
  /** Id of the target. */
  singleton_key: string;
}

/** A build that was lost after the pool of its target had changed is queued where it began: moves it to the present pool. */
export async function moveStray(db: Database, queue: Queue, { id, name, singleton_key }: StrayBuild): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const target = await lockTarget(transaction, singleton_key, 'change');
    if (target === null || queueOf(target.pool) === name) return;
    // Another claim may have moved it, or an agent taken it.
    const { rows } = await sql`SELECT 1 FROM ${JOB} WHERE name = ${name} AND id = ${id} AND state < 'active'
      FOR UPDATE`.execute(transaction);
    if (rows.length > 0) await queueAgain(transaction, queue, { name, id, target });
  });
}
