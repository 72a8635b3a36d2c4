import { redact } from '../../../process/redact.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { checkCode } from '../catalog/definitions/check-definitions.ts';
import { clientOf, createCode, dropListed } from '../catalog/definitions/code.ts';
import type { Code, CodeDefinitions } from '../catalog/definitions/definitions.ts';
import { isEnabled, mayBePast } from '../catalog/definitions/events.ts';
import { type CodeRow, listCode } from '../catalog/definitions/read-definitions.ts';
import { viewsNotCreated } from '../catalog/definitions/view-needs.ts';
import { readCodeSettings, settingsText } from '../catalog/introspect.ts';
import { type NameCase, readNameCase } from '../catalog/name-case.ts';
import { connect } from '../connection/connect.ts';
import { DENIED } from '../connection/error-numbers.ts';
import { inDatabase, plainWord, quoteName } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { databaseExists, dropEmpty } from '../server/server.ts';
import type { Journal } from './journal-schema.ts';
import { grantAgain } from './routine-grants.ts';

export type SettleContext = Pick<EngineContext, 'report'> & Partial<Pick<EngineContext, 'signal'>>;

/** Without a signal nothing interrupts it. */
function settlingOf({ signal = new AbortController().signal }: SettleContext): Pick<EngineContext, 'signal'> {
  return { signal };
}

/** Objects that the server refuses are returned, each with the reason: all others are created. */
export async function goForward(context: SettleContext, url: DatabaseUrl, journal: Journal): Promise<string[]> {
  await using session = await connect(settlingOf(context), url);
  const { definers, grants = [] } = journal;
  const destination = url.database ?? '';
  const after = checkCode(journal.after, destination);
  const stuck = await dropOld(context, session, destination);
  await session.execute(
    `ALTER DATABASE ${quoteName(destination)} CHARACTER SET ${plainWord(after.charset)} COLLATE ${plainWord(after.collation)}`,
  );
  const nameCase = await nameCaseOf(session, [...codesOf(after), ...stuck]);
  const refusals = new Refusals();
  const left = await createCode(session, without(after, stuck, nameCase), { definers, refused: refusals.add });
  for (const warning of viewsNotCreated(left)) context.report(warning);
  await grantAgain(context, session, { grants, routines: after.routines });
  const views = after.views.filter(({ name }) => !left.some((view) => view.name === name));
  const missing = await findMissingCode(context, session, { destination, after: { ...after, views } });
  return refusals.explain(missing);
}

class Refusals {
  readonly #reasons = new Map<string, string>();
  readonly add = ({ kind, name }: Pick<Code, 'kind' | 'name'>, { message }: SqlError): void => {
    this.#reasons.set(`${kind.toLowerCase()} ${name}`, redact(message));
  };
  explain(missing: string[]): string[] {
    const isRefused = (line: string): boolean =>
      [...this.#reasons.keys()].some((what) => line === `${what} is missing`);
    return [
      ...[...this.#reasons].map(([what, reason]) => `${what}: ${reason}`),
      ...missing.filter((line) => !isRefused(line)),
    ];
  }
}

/**
 * Creates the code that no packet can create: code in the bytes of another character set, views that may not be valid,
 * and missing code. Returns what is still missing, with the server's reasons.
 */
export async function completeCode(context: SettleContext, url: DatabaseUrl, journal: Journal): Promise<string[]> {
  const { definers, grants = [] } = journal;
  const destination = url.database ?? '';
  const after = checkCode(journal.after, destination);
  await using session = await connect(settlingOf(context), url);
  const present = await listCode(session, destination);
  const nameCase = await nameCaseOf(session, [...codesOf(after), ...present]);
  const there = new Set(present.map((listed) => keyOf(listed, nameCase)));
  const isMissing = (code: Code): boolean => !there.has(keyOf(code, nameCase));
  const special = (code: Code): boolean => code.bytes !== undefined || code.invalid === true || isMissing(code);
  const again = {
    ...after,
    dangling: [],
    defaults: [],
    routines: after.routines.filter(special),
    views: after.views.filter(special),
    // The order of triggers is that in which they were made.
    triggers: after.triggers.some(special) ? after.triggers : [],
    events: after.events.filter(special),
  };
  const dropped = [again.events, again.triggers, again.views, again.routines].flat();
  await dropListed(session, dropped);
  const refusals = new Refusals();
  const left = await createCode(session, again, { definers, refused: refusals.add });
  for (const warning of viewsNotCreated(left)) context.report(warning);
  await grantAgain(context, session, {
    grants: grants.filter(({ routine }) => again.routines.some(({ name }) => name === routine)),
    routines: again.routines,
  });
  const views = after.views.filter(({ name }) => !left.some((view) => view.name === name));
  return refusals.explain(await findMissingCode(context, session, { destination, after: { ...after, views } }));
}

/** Drops the code of the destination; what the user may not drop stays, and is a warning: the tables have moved. */
async function dropOld({ report }: SettleContext, session: MysqlSession, destination: string): Promise<CodeRow[]> {
  const stuck: CodeRow[] = [];
  for (const listed of await listCode(session, destination)) {
    await dropListed(session, [listed]).catch((error) => {
      if (!(error instanceof SqlError && DENIED.has(error.errno))) throw error;
      stuck.push(listed);
      const message = `The ${listed.kind.toLowerCase()} ${listed.name} of ${destination} was not replaced: ${redact(error.message)}`;
      report({ event: 'warning', code: 'not_carried_over', message });
    });
  }
  return stuck;
}

/** Names of views and triggers are compared as those of tables are, all others without case. */
function keyOf({ kind, name }: Pick<CodeRow, 'kind' | 'name'>, { fold }: NameCase): string {
  const asTables = kind === 'VIEW' || kind === 'TRIGGER';
  return `${kind} ${asTables ? fold(name) : name.toLowerCase()}`;
}

function nameCaseOf(session: MysqlSession, listed: Pick<CodeRow, 'name'>[]): Promise<NameCase> {
  return readNameCase(
    session,
    listed.map(({ name }) => name),
  );
}

function codesOf({ routines, views, triggers, events }: Journal['after']): Code[] {
  return [...routines, ...views, ...triggers, ...events];
}

function without(code: Journal['after'], stuck: CodeRow[], nameCase: NameCase): Journal['after'] {
  const isFree = (each: CodeRow): boolean => !stuck.some((one) => keyOf(one, nameCase) === keyOf(each, nameCase));
  return {
    ...code,
    routines: code.routines.filter(isFree),
    views: code.views.filter(isFree),
    triggers: code.triggers.filter(isFree),
    events: code.events.filter(isFree),
  };
}

/** Events are only here: before the swap they would have run. */
async function findMissingCode(
  { report }: SettleContext,
  session: MysqlSession,
  { destination, after }: { destination: string; after: Journal['after'] },
): Promise<string[]> {
  const present = await readCodeSettings(session, destination);
  const wanted = codesOf(after);
  const nameCase = await nameCaseOf(session, [...wanted, ...present]);
  const key = (listed: CodeRow): string => keyOf(listed, nameCase);
  const settings = new Map(present.map((found) => [key(found), found]));
  // The server drops an event whose time is past when it is created, as it does when the time comes.
  const past = after.events.filter((event) => !settings.has(key(event)) && mayBePast(event));
  if (past.length > 0) {
    const message = `Events whose time is past were not created: ${past.map(({ name }) => name).join(', ')}`;
    report({ event: 'warning', code: 'event_past', message });
  }
  const differences = wanted.flatMap((code) => {
    const found = settings.get(key(code));
    if (!found) return past.includes(code) ? [] : [`${code.kind.toLowerCase()} ${code.name} is missing`];
    if (code.charset === null || code.collation === null) return [];
    const expected = settingsText({ ...code, name: found.name, charset: clientOf(code.charset, code) });
    const { database_collation } = code.database_collation ? found : {};
    return settingsText({ ...found, database_collation }) === expected ? [] : [`${expected} is not its character set`];
  });
  const running = await runningEvents(session, destination);
  const unasked = after.events.filter((event) => !isEnabled(event) && running.has(event.name.toLowerCase()));
  for (const { name } of unasked) await session.execute(`ALTER EVENT ${quoteName(name)} DISABLE`);
  differences.push(...unasked.map(({ name }) => `event ${name} was not disabled`));
  return differences;
}

async function runningEvents(session: MysqlSession, database: string): Promise<Set<string>> {
  const rows = await session.query<{ name: string }>(
    `SELECT EVENT_NAME AS name FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', database)} AND STATUS = 'ENABLED'`,
  );
  return new Set(rows.map(({ name }) => name.toLowerCase()));
}

/** Makes again what was dropped ahead of the renames. */
export async function goBack(
  context: SettleContext,
  { server, url, pending: { made, before } }: { server: MysqlSession; url: DatabaseUrl; pending: Journal },
): Promise<void> {
  const destination = url.database ?? '';
  if (made) return dropEmpty(server, destination);
  if (!(await databaseExists(server, destination))) return;
  await using session = await connect(settlingOf(context), url);
  await createMissing(context, session, { database: destination, before });
}

/** Creates views and triggers that are missing in the session's database. Reads no tables, which may be locked. */
export async function createMissing(
  context: SettleContext,
  session: MysqlSession,
  { database, before }: { database: string; before: CodeDefinitions },
): Promise<void> {
  const present = await listCode(session, database);
  const missing = (kind: 'views' | 'triggers') => {
    const there = new Set(present.filter((code) => code.kind === KINDS[kind]).map(({ name }) => name));
    return before[kind].filter(({ name }) => !there.has(name)).flatMap((code) => safe(context, code, database));
  };
  await createCode(
    session,
    { ...before, routines: [], events: [], views: missing('views'), triggers: missing('triggers') },
    { definers: 'theirs' },
  );
}

const KINDS = { views: 'VIEW', triggers: 'TRIGGER' };
/** The code as it may be executed; none where that is refused. */
function safe({ report }: SettleContext, code: Code, destination: string): Code[] {
  try {
    return checkCode({ routines: [], views: [code], triggers: [], events: [] }, destination).views;
  } catch (error) {
    const message = `The ${code.kind.toLowerCase()} ${code.name} of ${destination} was not recreated: ${(error as Error).message}`;
    report({ event: 'warning', code: 'leftover', message });
    return [];
  }
}
