import { UserError } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { FIRST_OWN_OID } from '../../catalog/first-own-oid.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';

/** Refuses a load in place that the server would refuse in the middle; reads only. */
export async function assertInPlacePossible(
  context: EngineContext,
  { url, details }: { url: DatabaseUrl; details: ArchiveDetails },
): Promise<void> {
  await using session = await connect(context, url);
  await assertOwnedObjects(session, url);
  await assertEnoughLocks(session, { url, details });
}

async function assertOwnedObjects(session: PostgresSession, { display, database }: DatabaseUrl): Promise<void> {
  const [role] = await session.query<{ name: string; creates: boolean }>(
    `SELECT current_user AS name, has_database_privilege(current_database(), 'CREATE') AS creates`,
  );
  const schemas = await session.query<{ name: string; owner: string }>(`
    SELECT nspname AS name, pg_get_userbyid(nspowner) AS owner FROM pg_namespace n
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND NOT pg_has_role(nspowner, 'USAGE')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e')
    ORDER BY 1`);
  if (schemas.length === 0 && role?.creates) return;
  const name = role?.name ?? '';
  throw new UserError('not_owner', `The role ${name} may not replace what is in ${display}`, {
    details: [
      ...(role?.creates ? [] : [`it may not create schemas in ${database}`]),
      ...schemas.slice(0, 20).map((schema) => `schema ${schema.name} belongs to ${schema.owner}`),
    ],
    hint: `Load as the owner of the database, or let its owner run: ALTER DATABASE ${quoteName(database ?? '')} OWNER TO ${quoteName(name)}`,
  });
}

/** A table that is made takes a lock for itself, its TOAST table and that one's index. */
const LOCKS_OF_TABLE = 3;
/**
 * Factor on the counted locks. Types, constraints and defaults of a dropped table are counted as objects of their own.
 */
const MARGIN = 1.1;

/**
 * One transaction holds a lock for every object that it drops and every relation that it makes. The server's table of
 * locks has room for max_locks_per_transaction × (max_connections + max_prepared_transactions).
 */
async function assertEnoughLocks(
  session: PostgresSession,
  { url, details }: { url: DatabaseUrl; details: ArchiveDetails },
): Promise<void> {
  const [locks] = await session.query<{ held: number; per_transaction: number; transactions: number }>(`
    SELECT (SELECT count(*) FROM (SELECT DISTINCT classid, objid FROM pg_depend WHERE objid >= ${FIRST_OWN_OID}) o) AS held,
      current_setting('max_locks_per_transaction')::int AS per_transaction,
      current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int AS transactions`);
  if (!locks) return;
  const { objects, sequences } = details.inventory;
  const count = (kind: string): number => objects[kind]?.length ?? 0;
  const made = count('table') * LOCKS_OF_TABLE + count('index') + count('view') + sequences.length;
  const needed = Math.ceil((locks.held + made) * MARGIN);
  if (needed <= locks.per_transaction * locks.transactions) return;
  const wanted = Math.ceil(needed / locks.transactions);
  throw new UserError('too_few_locks', `A load in place into ${url.display} needs ${needed} locks in one transaction`, {
    details: [
      `the server has room for ${locks.per_transaction * locks.transactions}: max_locks_per_transaction = ${locks.per_transaction}`,
    ],
    hint: `Set max_locks_per_transaction = ${wanted} in postgresql.conf and restart the server, or load without --in-place.`,
  });
}
