import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { checkCode } from '../catalog/definitions/check-definitions.ts';
import { createCode } from '../catalog/definitions/code.ts';
import type { CodeDefinitions } from '../catalog/definitions/definitions.ts';
import { mayBePast, withEventsDisabled } from '../catalog/definitions/events.ts';
import { connect } from '../connection/connect.ts';
import { DENIED } from '../connection/error-numbers.ts';
import { inDatabase } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

export interface TrialOptions {
  /** A shadow database. */
  url: DatabaseUrl;
  code: CodeDefinitions;
  /** Rejects also where the user may not create events beside the destination. */
  needed: boolean;
}

/**
 * Creates every event in the shadow database, disabled, one statement at a time, and has the server's catalog confirm
 * that none of them runs: before the swap, since afterwards the destination would have them.
 */
export async function tryEvents(context: EngineContext, { url, code: given, needed }: TrialOptions): Promise<void> {
  if (given.events.length === 0) return;
  await using session = await connect(context, url);
  const code = checkCode({
    ...withEventsDisabled(given),
    ...{ routines: [], views: [], triggers: [], dangling: [], defaults: [] },
  });
  const refusals: { text: string; denied: boolean }[] = [];
  await createCode(session, code, {
    definers: 'mine',
    refused: ({ name }, { errno, message }) =>
      refusals.push({ text: `event ${name}: ${message}`, denied: DENIED.has(errno) }),
  });
  const relevant = refusals.filter(({ denied }) => needed || !denied);
  if (relevant.length > 0)
    throw restoreFailed(
      'Cannot create an event',
      relevant.map(({ text }) => text),
    );
  if (refusals.length > 0) return;
  const states = await statesOf(session, url.database ?? '');
  const differences = code.events.flatMap((event) => {
    const state = states.get(event.name.toLowerCase());
    if (state === undefined) return mayBePast(event) ? [] : [`event ${event.name} is missing`];
    return state === 'ENABLED' ? [`event ${event.name} is not disabled`] : [];
  });
  const known = new Set(code.events.map(({ name }) => name.toLowerCase()));
  differences.push(
    ...[...states.keys()].filter((name) => !known.has(name)).map((name) => `event ${name} is not known`),
  );
  if (differences.length > 0) throw restoreFailed('The events are not those of the snapshot', differences);
}

/** By names in lower case, which the server compares so. */
async function statesOf(session: MysqlSession, database: string): Promise<Map<string, string>> {
  const rows = await session.query<{ name: string; state: string }>(
    `SELECT EVENT_NAME AS name, STATUS AS state FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', database)}`,
  );
  return new Map(rows.map(({ name, state }) => [name.toLowerCase(), state]));
}
