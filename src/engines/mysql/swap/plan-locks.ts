import { readTableList } from '../catalog/tables.ts';
import type { MysqlSession } from '../connection/session.ts';
import { awayRenames, type SwapProgram } from './swap-packet.ts';

/**
 * The tables to lock for a swap that drops triggers. A server that logs transactions with their identifiers locks
 * tables with transactions and tables without them by different statements only (`ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE`):
 * then there are two groups.
 */
export async function planLocks(
  server: MysqlSession,
  program: Pick<SwapProgram, 'before' | 'renames' | 'destination' | 'fold'>,
): Promise<SwapProgram['locks']> {
  const { before, renames } = program;
  if (before.triggers.length === 0 || renames.length === 0) return [];
  const all = [...awayRenames(program), ...renames].map(({ from }) => from);
  const [gtid] = await server.query<{ Value: string }>("SHOW VARIABLES LIKE 'enforce_gtid_consistency'");
  if ((gtid?.Value ?? 'OFF') === 'OFF') return [all];
  const engines = new Map<string, string | null>();
  for (const database of new Set(all.map(([name]) => name))) {
    for (const { name, engine } of await readTableList(server, database))
      engines.set(JSON.stringify([database, name]), engine);
  }
  const tables = renames.map(({ from }) => from);
  // The table of the journal does not exist yet.
  const groups = Map.groupBy(tables, (path) => (engines.get(JSON.stringify(path)) ?? 'InnoDB') === 'InnoDB');
  return groups.size > 1 ? [...groups.values()] : [all];
}
