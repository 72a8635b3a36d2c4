import * as v from 'valibot';
import type { WarningEvent } from '../../../results/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import { inModeOf } from '../catalog/definitions/code.ts';
import type { Code } from '../catalog/definitions/definitions.ts';
import { inDatabase, plainWords, quoteAccount, quoteName } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { onRefusal } from '../connection/session-errors.ts';

/**
 * Rights on a stored routine, which the server takes away when the routine is dropped. Rights on databases, tables and
 * columns belong to names: they are still there when other tables have these names.
 */
export const routineGrantSchema = v.object({
  kind: v.picklist(['PROCEDURE', 'FUNCTION', 'PACKAGE', 'PACKAGE BODY']),
  routine: v.string(),
  user: v.string(),
  /** Empty for a role of MariaDB. */
  host: v.string(),
  rights: v.array(v.picklist(['EXECUTE', 'ALTER ROUTINE', 'GRANT OPTION'])),
});
export type RoutineGrant = v.InferOutput<typeof routineGrantSchema>;

const RIGHTS: Record<string, RoutineGrant['rights'][number]> = {
  execute: 'EXECUTE',
  'alter routine': 'ALTER ROUTINE',
  grant: 'GRANT OPTION',
};

/** `null` where the user may not read them. */
export async function readRoutineGrants(server: MysqlSession, database: string): Promise<RoutineGrant[] | null> {
  const rows = await server
    .query<{ kind: RoutineGrant['kind']; routine: string; user: string; host: string; rights: string }>(`
      SELECT Routine_type AS kind, Routine_name AS routine, User AS user, Host AS host, Proc_priv AS rights
      FROM mysql.procs_priv WHERE ${inDatabase('Db', database)} ORDER BY 1, 2, 3, 4`)
    .catch(onRefusal(() => null));
  return (
    rows?.map(({ rights, ...row }) => ({
      ...row,
      rights: rights.split(',').flatMap((right) => RIGHTS[right.toLowerCase()] ?? []),
    })) ?? null
  );
}

export async function hasRoutines(server: MysqlSession, database: string): Promise<boolean> {
  const rows = await server.query(
    `SELECT 1 FROM information_schema.ROUTINES WHERE ${inDatabase('ROUTINE_SCHEMA', database)} LIMIT 1`,
  );
  return rows.length > 0;
}

/** Rights on the destination's routines; a warning where they cannot be read. */
export async function grantsOf({ report }: EngineContext, server: MysqlSession, destination: string) {
  const grants = await readRoutineGrants(server, destination);
  if (grants) return grants;
  if (await hasRoutines(server, destination)) {
    const message = `The rights on routines of ${destination} cannot be read (SELECT on mysql.procs_priv): grant them again after the load`;
    report({ event: 'warning', code: 'not_carried_over', message });
  }
  return [];
}

export interface GrantStatement {
  kind: string;
  statement: string;
}

export interface GrantPlan {
  statements: GrantStatement[];
  /** Warnings of rights that cannot be granted, with the reasons. */
  lost: WarningEvent[];
}

/** The statements that give the rights again on routines of the session's database. */
export async function planGrants(
  session: MysqlSession,
  { grants, routines }: { grants: RoutineGrant[]; routines: Code[] },
): Promise<GrantPlan> {
  const plan: GrantPlan = { statements: [], lost: [] };
  for (const { kind, statement, lost } of await grantsToGive(session, { grants, routines })) {
    if (statement === null) plan.lost.push(lost('the new database has no such routine'));
    else plan.statements.push({ kind, statement });
  }
  return plan;
}

interface GrantToGive {
  kind: string;
  /** `null` without the routine. */
  statement: string | null;
  lost: (why: string) => WarningEvent;
}

async function grantsToGive(session: MysqlSession, { grants, routines }: { grants: RoutineGrant[]; routines: Code[] }) {
  const [self] = await session.query<{ account: string }>('SELECT CURRENT_USER() AS account');
  return grants.flatMap(({ kind, routine, user, host, rights }): GrantToGive[] => {
    const given = rights.filter((right) => right !== 'GRANT OPTION');
    // The creator of a routine has these rights on it.
    if (given.length === 0 || `${user}@${host}` === self?.account) return [];
    const grantee = quoteAccount(user, host);
    const option = rights.includes('GRANT OPTION') ? ' WITH GRANT OPTION' : '';
    const isThere = routines.some((code) => code.kind === kind && code.name.toLowerCase() === routine.toLowerCase());
    const statement = isThere
      ? `GRANT ${given.join(', ')} ON ${plainWords(kind)} ${quoteName(routine)} TO ${grantee}${option}`
      : null;
    const what = `${given.join(', ')} on ${kind.toLowerCase()} ${routine} for ${user}@${host}`;
    const lost = (why: string): WarningEvent => {
      return { event: 'warning', code: 'not_carried_over', message: `${what} was not carried over: ${why}` };
    };
    return [{ kind, statement, lost }];
  });
}

/** Gives the rights again on routines of the session's database; what cannot be given is a warning. */
export async function grantAgain(
  { report }: Pick<EngineContext, 'report'>,
  session: MysqlSession,
  { grants, routines }: { grants: RoutineGrant[]; routines: Code[] },
) {
  for (const { kind, statement, lost } of await grantsToGive(session, { grants, routines })) {
    if (statement === null) report(lost('the new database has no such routine'));
    else {
      const given = inModeOf(kind, session, () => session.execute(statement));
      await given.catch(onRefusal(({ message }) => report(lost(message))));
    }
  }
}
