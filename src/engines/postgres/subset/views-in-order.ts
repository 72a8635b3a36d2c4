import type { PostgresSession } from '../connection/session.ts';

export interface View {
  schema: string;
  name: string;
}

interface Relation extends View {
  oid: number;
  materialized: boolean;
}

/**
 * Materialized views after the views they read. Ordered here with a visited set: rules may form cycles, on which a
 * recursive query does not end.
 */
export async function materializedViewsInOrder(session: PostgresSession): Promise<View[]> {
  const relations = await session.query<Relation>(`
    SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name, c.relkind = 'm' AS materialized
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm')
    ORDER BY n.nspname, c.relname`);
  const uses = await session.query<{ view: number; used: number }>(`
    SELECT DISTINCT r.ev_class::int8 AS view, d.refobjid::int8 AS used FROM pg_rewrite r
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
    WHERE r.rulename = '_RETURN' AND d.refobjid <> r.ev_class`);
  const usedBy = Map.groupBy(uses, ({ view }) => view);
  const byOid = new Map(relations.map((relation) => [relation.oid, relation]));
  const visited = new Set<number>();
  const ordered: View[] = [];
  // No recursion: chains of views may exceed the call stack.
  for (const { oid } of relations) {
    const stack = [{ oid, entered: false }];
    for (let next = stack.pop(); next; next = stack.pop()) {
      const relation = byOid.get(next.oid);
      if (!relation) continue;
      if (next.entered) {
        if (relation.materialized) ordered.push({ schema: relation.schema, name: relation.name });
        continue;
      }
      if (visited.has(next.oid)) continue;
      visited.add(next.oid);
      stack.push({ oid: next.oid, entered: true });
      for (const { used } of usedBy.get(next.oid) ?? []) stack.push({ oid: used, entered: false });
    }
  }
  return ordered;
}
