import { performance } from 'node:perf_hooks';
import { UserError } from '../../../errors.ts';
import type { DatabaseUrl, EngineContext, Probe } from '../../engine.ts';
import { connect } from './connect.ts';

/** What a failure to connect means for the state of a target. */
const STATUS: Record<string, Probe['status']> = {
  database_missing: 'missing',
  denied: 'denied',
  unreachable: 'unreachable',
};

/** The live state of a database: a round trip on an open connection is its latency. */
export async function probe(context: EngineContext, url: DatabaseUrl): Promise<Probe> {
  try {
    await using session = await connect(context, url);
    const started = performance.now();
    await session.execute('SELECT 1');
    const latency_ms = Math.max(1, Math.round(performance.now() - started));
    const [row] = await session.query<{ version: string; bytes: number }>(`
      SELECT split_part(current_setting('server_version'), ' ', 1) AS version, pg_database_size(current_database()) AS bytes`);
    return {
      status: 'ok',
      latency_ms,
      server_version: row?.version ?? null,
      size_bytes: row?.bytes ?? null,
      error: null,
    };
  } catch (thrown) {
    if (!(thrown instanceof UserError)) throw thrown;
    const status = STATUS[thrown.code];
    if (!status) throw thrown;
    return {
      status,
      latency_ms: null,
      server_version: null,
      size_bytes: null,
      error: thrown.details[0] ?? thrown.message,
    };
  }
}
