import type { TargetRow } from '../../../results/results.ts';
import type { ServerRow } from '../../../results/running-servers.ts';

/** Returns the targets with their running servers. */
export function withServers(rows: TargetRow[], running: ServerRow[]): TargetRow[] {
  const byTarget = Map.groupBy(running, ({ target }) => target);
  return rows.map(({ servers: _, ...row }) => {
    const servers = byTarget.get(row.name);
    return servers ? { ...row, servers } : row;
  });
}
