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
  await using session = await connect(context, url, {
    settings: { statement_timeout: '0', search_path: '"$user", public' },
  });
  await session.execute('BEGIN READ ONLY');
  const rows = await session.query<{ value: string | null }>(
    `WITH given AS (${select}
    )
    SELECT (SELECT value FROM json_each_text(row_to_json(given)) LIMIT 1) AS value FROM given LIMIT 1`,
  );
  return rows[0]?.value ?? null;
}
