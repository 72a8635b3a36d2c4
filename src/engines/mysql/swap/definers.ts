import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { Collations } from '../catalog/introspect.ts';
import { readGrants } from '../catalog/rights/rights.ts';
import { RIGHT_MISSING } from '../connection/error-numbers.ts';
import { inDatabase, quoteAccount, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { readAuxiliaryNames } from '../server/server.ts';
import { createShadowDatabase, dropAuxiliaryDatabase } from './shadow-databases.ts';

/** Rights that permit code in the name of another account. */
const SETS_DEFINER = /\b(SUPER|SET USER|SET_USER_ID|SET_ANY_DEFINER|ALL PRIVILEGES)\b.* ON \*\.\* /;

export async function maySetDefiner(server: MysqlSession): Promise<boolean> {
  return (await readGrants(server)).some((line) => SETS_DEFINER.test(`${line} `));
}

/**
 * Rejects when the code of a database has a definer that the user may not set: recreated, it would belong to the user.
 * Tried with a view in a database of its own, since a right may also come from a role, and an account with
 * `SYSTEM_USER` needs more.
 */
export async function assertOwnDefiners(
  context: Pick<EngineContext, 'report'>,
  server: MysqlSession,
  { database, destination, collations }: { database: string; destination: string; collations: Collations },
): Promise<void> {
  const foreign = await foreignDefiners(server, database);
  if (foreign.size === 0) return;
  const work = (await readAuxiliaryNames(server, destination)).shadow();
  await createShadowDatabase(server, { name: work, destination, collations });
  try {
    for (const [definer, what] of foreign) {
      const [user, host] = accountOf(definer);
      await server
        .execute(`CREATE DEFINER = ${quoteAccount(user, host)} VIEW ${quotePath(work, 'probe')} AS SELECT 1 AS one`)
        .catch((error) => {
          throw error instanceof SqlError && error.errno === RIGHT_MISSING
            ? mayNotSet({ what, database, definer })
            : error;
        });
      await server.execute(`DROP VIEW ${quotePath(work, 'probe')}`);
    }
  } finally {
    await dropAuxiliaryDatabase(context, server, { name: work, destination });
  }
}

/** Accounts other than the user, each with one thing that it defines. */
async function foreignDefiners(server: MysqlSession, database: string): Promise<Map<string, string>> {
  const rows = await server.query<{ definer: string; what: string }>(`
    SELECT definer, MIN(what) AS what FROM (
      SELECT DEFINER AS definer, CONCAT('view ', TABLE_NAME) AS what FROM information_schema.VIEWS WHERE ${inDatabase('TABLE_SCHEMA', database)}
      UNION ALL SELECT DEFINER, CONCAT(LOWER(ROUTINE_TYPE), ' ', ROUTINE_NAME) FROM information_schema.ROUTINES WHERE ${inDatabase('ROUTINE_SCHEMA', database)}
      UNION ALL SELECT DEFINER, CONCAT('trigger ', TRIGGER_NAME) FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)}
      UNION ALL SELECT DEFINER, CONCAT('event ', EVENT_NAME) FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', database)}
    ) AS code WHERE definer <> CURRENT_USER() GROUP BY definer`);
  return new Map(rows.map(({ definer, what }) => [definer, what]));
}

function accountOf(definer: string): [user: string, host: string] {
  const at = definer.lastIndexOf('@');
  return at < 0 ? [definer, ''] : [definer.slice(0, at), definer.slice(at + 1)];
}

function mayNotSet({ what, database, definer }: { what: string; database: string; definer: string }): UserError {
  return new UserError(
    'switch_refused',
    `The ${what} of ${database} has the definer ${definer}, which the user may not set`,
    {
      hint: 'Nothing was changed. A switch recreates it under the other name: switch as that account, or as a user that may set it (SET_ANY_DEFINER and SYSTEM_USER on MySQL, SET USER on MariaDB).',
    },
  );
}
