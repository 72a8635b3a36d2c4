import { performance } from 'node:perf_hooks';
import { EXIT, UserError } from '../../../errors.ts';
import type { DatabaseUrl, EngineContext, Probe } from '../../engine.ts';
import { readServer } from '../catalogue.ts';
import { connect } from './connect.ts';
import { quoteText } from './session.ts';

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
    await session.execute('DO 1');
    const latency_ms = Math.max(1, Math.round(performance.now() - started));
    const { version } = await readServer(session);
    const [row] = await session.query<{ bytes: number | null }>(`
      SELECT SUM(DATA_LENGTH + INDEX_LENGTH) AS bytes FROM information_schema.TABLES
      WHERE TABLE_SCHEMA = ${quoteText(url.database ?? '')}`);
    return { status: 'ok', latency_ms, server_version: version, size_bytes: Number(row?.bytes ?? 0), error: null };
  } catch (thrown) {
    if (!(thrown instanceof UserError) || thrown.exit !== EXIT.unreachable) throw thrown;
    return {
      status: STATUS[thrown.code] ?? 'unreachable',
      latency_ms: null,
      server_version: null,
      size_bytes: null,
      error: thrown.details[0] ?? thrown.message,
    };
  }
}
