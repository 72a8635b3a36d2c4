import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';

export interface ValueRequest {
  url: DatabaseUrl;
  /** One statement of the user's. */
  select: string;
}

/** The first column of the first row, in a transaction that only reads. */
export async function readValue(context: EngineContext, { url, select }: ValueRequest): Promise<string | null> {
  await using session = await connect(context, url);
  await session.execute('START TRANSACTION READ ONLY');
  const [row] = await session.query<Record<string, unknown>>(`SELECT * FROM (${select}
    ) AS given LIMIT 1`);
  const [value] = Object.values(row ?? {});
  return value === null || value === undefined ? null : String(value);
}
