import { setTimeout as pause } from 'node:timers/promises';
import type { Report } from '../../../../runtime/events.ts';
import { FIRST_OWN_OID } from '../../catalog/first-own-oid.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ArchiveEntry } from '../../dump/archive-contents.ts';

const EVERY_MS = 500;

/** Entries of an archive that become an index or a foreign key. */
const COUNTED = /^(INDEX|CONSTRAINT|FK CONSTRAINT) /;

/** Indexes and foreign keys without those that a partition has of its parent. */
const COUNT = `SELECT
  (SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.oid >= ${FIRST_OWN_OID} AND c.relnamespace <> 'pg_toast'::regnamespace)
  + (SELECT count(*) FROM pg_constraint WHERE oid >= ${FIRST_OWN_OID} AND contype = 'f' AND conparentid = 0) AS made`;

interface IndexWatch {
  session: PostgresSession;
  report: Report;
  signal: AbortSignal;
  /** All entries of the restore, and those that are still to be restored. */
  entries: { all: ArchiveEntry[]; rest: ArchiveEntry[] };
}

/** Builds indexes, and reports the progress of the step `index` by the catalog, twice a second. */
export async function withIndexProgress({ session, report, signal, entries }: IndexWatch, build: () => Promise<void>) {
  const [total, left] = [countIn(entries.all), countIn(entries.rest)];
  const stopped = new AbortController();
  const ended = AbortSignal.any([signal, stopped.signal]);
  const tell = (done: number): void =>
    report({ event: 'progress', step: 'index', done: Math.min(done, total), total, unit: 'objects' });
  const made = async (): Promise<number> =>
    (await session.query<{ made: number }>(COUNT, { told: 'the number of indexes and foreign keys' }))[0]?.made ?? 0;
  const watch = async (): Promise<void> => {
    const before = await made();
    for (let last = -1; !ended.aborted; ) {
      await pause(EVERY_MS, undefined, { signal: ended });
      const done = total - left + (await made()) - before;
      if (done !== last && !ended.aborted) tell(done);
      last = done;
    }
  };
  try {
    // Whatever stops the count, the restore states.
    if (left > 0) watch().catch(() => {});
    await build();
    if (total > 0) tell(total);
  } finally {
    stopped.abort(new Error('the indexes are built'));
  }
}

function countIn(entries: ArchiveEntry[]): number {
  return entries.filter(({ text }) => COUNTED.test(text)).length;
}
