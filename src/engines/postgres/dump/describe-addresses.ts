import { quoteNumber } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { keyOf, type ObjectAddress } from './dependency-graph.ts';

interface AddressDescription {
  kind: string;
  name: string;
}

/**
 * Kinds and names of objects for people; `null` for what is not an object of its own: row and array types, triggers
 * of constraints, rules of views.
 */
export async function describeAddresses(
  session: PostgresSession,
  addresses: ObjectAddress[],
): Promise<(address: ObjectAddress) => AddressDescription | null> {
  const unique = [...new Map(addresses.map((address) => [keyOf(address), address])).values()];
  if (unique.length === 0) return () => null;
  const list = unique.map((each) => `(${[each.class, each.oid, each.column].map(quoteNumber).join(', ')})`).join(', ');
  const rows = await session.query<ObjectAddress & AddressDescription>(`
    SELECT g.class, g.oid, g."column", i.type AS kind,
      array_to_string(CASE WHEN i.type = 'domain constraint' THEN i.object_names || i.object_args ELSE i.object_names END, '.')
        || CASE WHEN i.type IN ('function', 'procedure', 'aggregate', 'operator', 'cast')
          THEN '(' || array_to_string(i.object_args, ', ') || ')' ELSE '' END AS name
    FROM (VALUES ${list}) g (class, oid, "column"), pg_identify_object_as_address(g.class::oid, g.oid::oid, g."column"::int4) i
    WHERE NOT (g.class::oid = 'pg_trigger'::regclass
        AND EXISTS (SELECT FROM pg_trigger t WHERE t.oid = g.oid::oid AND t.tgisinternal AND (t.tgparentid = 0
          OR EXISTS (SELECT FROM pg_constraint k WHERE k.oid = t.tgconstraint AND k.contype = 'f'))))
      AND NOT (g.class::oid = 'pg_rewrite'::regclass
        AND EXISTS (SELECT FROM pg_rewrite r WHERE r.oid = g.oid::oid AND r.rulename = '_RETURN'))
      AND NOT (g.class::oid = 'pg_type'::regclass
        AND EXISTS (SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
          WHERE t.oid = g.oid::oid AND (c.relkind <> 'c' OR t.typelem <> 0 AND t.typcategory = 'A')))
      AND NOT (g.class::oid = 'pg_class'::regclass
        AND EXISTS (SELECT FROM pg_class c WHERE c.oid = g.oid::oid AND (c.relkind IN ('t', 'c') OR c.relnamespace = 'pg_toast'::regnamespace)))`);
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return (address) => {
    const found = byKey.get(keyOf(address));
    return found ? { kind: found.kind, name: found.name } : null;
  };
}
