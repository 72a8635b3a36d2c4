import type { DatabaseUrl } from '../../database-url.ts';
import { maskValues } from '../../shared/mask-values.ts';
import type { WorkloadSessions } from '../../shared/rehearse/run-workload.ts';
import type { Flavour } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { inDatabase } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { onRefusal } from '../connection/session-errors.ts';
import { endSession } from '../server/server.ts';

interface WorkloadPlace {
  url: DatabaseUrl;
  flavour: Flavour;
  signal: AbortSignal;
}

/** Sessions of a workload on the observed database, and one that watches them. */
export async function workloadSessions({ url, flavour, signal }: WorkloadPlace): Promise<WorkloadSessions> {
  const ending = new AbortController();
  const either = { signal: AbortSignal.any([signal, ending.signal]) };
  const opened: number[] = [];
  const monitor = await connect({ signal }, url);
  return {
    async open() {
      const session = await connect(either, url, { localFiles: false, settings: [] });
      opened.push(session.id);
      return { pid: session.id, run: (statement) => session.run(statement).then(() => null, maskedFailure) };
    },
    waiting: () => readWaiting(monitor, { flavour, database: url.database ?? '' }),
    async [Symbol.asyncDispose]() {
      // The server would end a statement first, and keep its locks until then.
      for (const id of opened) await endSession(monitor, id);
      ending.abort();
      await monitor.close();
    },
  };
}

const maskedFailure = onRefusal(({ errno, message }) => maskValues(`error ${errno}: ${message}`));

/** Pairs of a session and one that it waits for a row of. */
const ROW_WAITS: Record<Flavour, string> = {
  mysql: `SELECT r.trx_mysql_thread_id AS pid, b.trx_mysql_thread_id AS blocker
    FROM performance_schema.data_lock_waits w
    JOIN information_schema.INNODB_TRX r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
    JOIN information_schema.INNODB_TRX b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID`,
  mariadb: `SELECT r.trx_mysql_thread_id AS pid, b.trx_mysql_thread_id AS blocker
    FROM information_schema.INNODB_LOCK_WAITS w
    JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id
    JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id`,
};

/** The holder of a table's lock is not told everywhere: any session of the database that does not wait itself. */
async function readWaiting(monitor: MysqlSession, { flavour, database }: { flavour: Flavour; database: string }) {
  const sessions = await monitor.query<{ id: number; waits: number }>(
    `SELECT ID AS id, COALESCE(STATE LIKE 'Waiting for%lock', 0) AS waits FROM information_schema.PROCESSLIST
     WHERE ${inDatabase('DB', database)} AND ID <> CONNECTION_ID()`,
  );
  const others = sessions.flatMap(({ id, waits }) => (Number(waits) === 1 ? [] : [Number(id)]));
  const waiting = new Map(
    sessions.flatMap(({ id, waits }) => (Number(waits) === 1 ? [[Number(id), others] as const] : [])),
  );
  const rows = await monitor.query<{ pid: number; blocker: number }>(ROW_WAITS[flavour]).catch(onRefusal(() => []));
  const byRows = Map.groupBy(rows, ({ pid }) => Number(pid));
  return new Map([
    ...waiting,
    ...[...byRows].map(([pid, waits]) => [pid, waits.map(({ blocker }) => Number(blocker))] as const),
  ]);
}
