import { UserError } from '../../../runtime/errors.ts';
import type { Relationship } from '../../../subset/graph.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

/**
 * Roles whose code could use rights that they lack, where the connecting role has more than its own. The owner decides,
 * not an extension: the owner of an extension may add functions to it.
 */
export const UNTRUSTED = `(SELECT r.oid FROM pg_roles r, pg_roles me WHERE me.rolname = current_user AND NOT r.rolsuper AND r.oid <> me.oid
  AND (me.rolsuper OR me.rolcreaterole OR me.rolbypassrls OR EXISTS (SELECT FROM pg_auth_members m WHERE m.member = me.oid)))`;

const CASTS = `SELECT c.castsource AS source, c.castcontext AS context, format('the cast from %s to %s, whose function belongs to %I',
    format_type(c.castsource, NULL), format_type(c.casttarget, NULL), pg_get_userbyid(p.proowner)) AS code
  FROM pg_cast c JOIN pg_proc p ON p.oid = c.castfunc WHERE p.proowner IN ${UNTRUSTED}`;

/** Returns a query for the type below all domains; `type` is SQL. */
export function baseType(type: string): string {
  return `(WITH RECURSIVE base AS (SELECT ${type} AS oid
      UNION ALL SELECT t.typbasetype FROM base b JOIN pg_type t ON t.oid = b.oid WHERE t.typtype = 'd')
    SELECT b.oid FROM base b JOIN pg_type t ON t.oid = b.oid WHERE t.typtype <> 'd')`;
}

/**
 * Returns a query for code that a comparison of two columns can run: a cast of an argument, or an operator that fits
 * better. Types of an untrusted role that differ count without a cast, which the role may add at any time. All is SQL.
 */
export function comparisonCode(types: [string, string], operator: { schema: string; name: string }): string {
  const [own, other] = types.map(baseType);
  return `(SELECT min(code) FROM (
    SELECT code FROM (${CASTS}) c WHERE c.context = 'i' AND c.source IN (${own}, ${other})
    UNION ALL SELECT format('the casts of %s, which belongs to %I', format_type(t.oid, NULL), pg_get_userbyid(t.typowner))
      FROM pg_type t WHERE t.oid IN (${own}, ${other}) AND ${own} <> ${other} AND t.typowner IN ${UNTRUSTED}
    UNION ALL SELECT format('the operator %s, whose function belongs to %I', o.oid::regoperator, pg_get_userbyid(p.proowner))
      FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace JOIN pg_proc p ON p.oid = o.oprcode
      WHERE o.oprname = ${operator.name} AND n.nspname = ${operator.schema} AND p.proowner IN ${UNTRUSTED}) q)`;
}

export function assertTrusted({ name, from, columns, to }: Relationship, code: string | null): void {
  if (code === null) return;
  const what = `${name}: ${from} (${columns.join(', ')}) → ${to}`;
  throw new UserError('subset_invalid', `The reference ${what} runs code of another role`, {
    details: [`Comparing its columns can run ${code}.`],
    hint: 'Connect as a role without rights over others, change the types, or add it to excluded_relationships.',
  });
}

/** A cast applies whatever the search path is. */
export async function findCast(session: PostgresSession): Promise<string | null> {
  const [row] = await session.query<{ code: string | null }>(`SELECT min(code) AS code FROM (${CASTS}) c`);
  return row?.code ?? null;
}

/** Schemas in which an untrusted role has operators, or functions with a name of pg_catalog: they can win over those of the server. */
export async function untrustedSchemas(session: PostgresSession, schemas: string[]): Promise<string[]> {
  const rows = await session.query<{ name: string }>(`
    SELECT n.nspname AS name FROM pg_namespace n WHERE n.nspname IN (${schemas.map(quoteText).join(', ')}) AND EXISTS (
      SELECT FROM pg_proc p LEFT JOIN pg_operator o ON o.oprcode = p.oid
      WHERE p.proowner IN ${UNTRUSTED} AND (n.oid = o.oprnamespace OR n.oid = p.pronamespace AND EXISTS (
        SELECT FROM pg_proc c WHERE c.proname = p.proname AND c.pronamespace = 'pg_catalog'::regnamespace)))`);
  return rows.map(({ name }) => name);
}
