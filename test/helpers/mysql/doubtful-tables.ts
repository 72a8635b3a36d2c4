import { findBaseCopies } from '../../../src/engines/mysql/branches/base/base-copies.ts';
import {
  type DoubtfulTables,
  findDoubtfulTables,
} from '../../../src/engines/mysql/branches/in-place/doubtful-tables.ts';
import { parseUnwritten } from '../../../src/engines/mysql/branches/in-place/unwritten-tables.ts';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import type { TestMysql } from './mysql-server.ts';

/** Returns which tables a reset of a destination, or of a branch, would read; or why it would be by copy. */
export async function doubtfulTables(
  server: TestMysql,
  { destination, database = destination, seen }: { destination: string; database?: string; seen?: unknown },
): Promise<DoubtfulTables | string> {
  await using session = await openSession({ url: parseMysqlUrl(server.url('')) });
  const { base } = await findBaseCopies(session, destination);
  if (!base) return 'there is no base copy';
  return await findDoubtfulTables(session, { database, destination, base }, parseUnwritten(seen));
}
