import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { createCode, type Definers, dropListed } from '../catalog/definitions/code.ts';
import type { Code, CodeDefinitions } from '../catalog/definitions/definitions.ts';
import { withEventsDisabled } from '../catalog/definitions/events.ts';
import { listCode } from '../catalog/definitions/read-definitions.ts';
import { lexicalModeOf, significant } from '../catalog/definitions/tokens.ts';
import { type Rights, readRights } from '../catalog/rights/rights.ts';
import { connect } from '../connection/connect.ts';
import { DENIED } from '../connection/error-numbers.ts';
import type { MysqlSession } from '../connection/session.ts';

export interface CodeTrial {
  /** The database that has the arriving tables. */
  url: DatabaseUrl;
  destination: string;
  code: CodeDefinitions;
  definers: Definers;
}

/**
 * Creates the code that a swap will create, with the same texts and the same user, beside the tables that arrive, and
 * drops it again: a statement that the server refuses is known before anything of the destination has changed.
 */
export async function tryCode(context: EngineContext, { url, destination, code, definers }: CodeTrial): Promise<void> {
  await using session = await connect(context, url);
  const database = url.database ?? '';
  // A trial that was killed has left some.
  await dropAllCode(session, database);
  const refusals: string[] = [];
  await createCode(
    session,
    { ...withEventsDisabled(code), dangling: [], defaults: [] },
    {
      definers,
      refused({ kind, name }, error) {
        // A right on events beside the destination is not needed: the right in it is examined below.
        if (kind === 'EVENT' && DENIED.has(error.errno)) return;
        refusals.push(`${kind.toLowerCase()} ${name}: ${error.message}`);
      },
    },
  );
  await dropAllCode(session, database);
  const rights = await readRights(session);
  refusals.push(...missingRights(rights, destination, code));
  if (refusals.length > 0) throw restoreFailed('Cannot create a view, routine, trigger or event', refusals);
}

/** Drops views and stored programs of a database: tables with triggers do not move to another one. */
export async function dropAllCode(session: MysqlSession, database: string): Promise<void> {
  await dropListed(session, await listCode(session, database), database);
}

/** Rights that the user has beside the destination, and lacks in it. */
function missingRights(rights: Rights, destination: string, code: CodeDefinitions): string[] {
  const has = (right: string): boolean => rights.onDatabase(destination, right);
  const needs: [codes: Code[], right: string][] = [
    [code.routines, 'CREATE ROUTINE'],
    [code.views, 'CREATE VIEW'],
    [code.triggers.filter((trigger) => !mayTrigger(rights, destination, trigger)), 'TRIGGER'],
    [code.events, 'EVENT'],
  ];
  return needs.flatMap(([[first], right]) =>
    first && !has(right) ? [`${first.kind.toLowerCase()} ${first.name}: no ${right} on ${destination}`] : [],
  );
}

function mayTrigger(rights: Rights, destination: string, { create, sql_mode }: Code): boolean {
  const names = significant(create, lexicalModeOf(sql_mode)).map(({ value }) => value);
  return names.some((name) => rights.onTable(destination, name, 'TRIGGER'));
}
