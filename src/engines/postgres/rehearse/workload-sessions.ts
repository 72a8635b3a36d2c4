import { maskValues } from '../../shared/mask-values.ts';
import type { WorkloadSessions } from '../../shared/rehearse/run-workload.ts';
import { SqlError } from '../connection/session-errors.ts';
import { openWire, type Wire } from '../connection/wire.ts';
import type { WireAddress } from '../connection/wire-login.ts';

/** Pairs of a process of this database and those that it waits for. */
const WAITING = `SELECT coalesce(json_agg(json_build_array(pid, pg_blocking_pids(pid))), '[]') FROM pg_stat_activity
  WHERE wait_event_type = 'Lock' AND datname = current_database()`;

/** Sessions of a workload on the observed database, and one that watches them. */
export async function workloadSessions(address: WireAddress, signal: AbortSignal): Promise<WorkloadSessions> {
  const owned = new AsyncDisposableStack();
  const open = async (): Promise<Wire> => {
    const wire = await openWire(address, { settings: {}, signal });
    owned.defer(() => wire.close());
    return wire;
  };
  const monitor = await open();
  return {
    async open() {
      const wire = await open();
      const [pid = '0'] = await wire.query('SELECT pg_backend_pid()');
      const run = (statement: Buffer) => wire.execute(statement.toString('utf8')).then(() => null, maskedFailure);
      return { pid: Number(pid), run };
    },
    async waiting() {
      const [text = '[]'] = await monitor.query(WAITING);
      return new Map(JSON.parse(text) as [pid: number, blockers: number[]][]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function maskedFailure(error: unknown): string {
  if (error instanceof SqlError) return maskValues(error.message);
  throw error;
}
