import { UserError } from '../../../runtime/errors.ts';
import type { Report } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import type { ArchiveEntry } from '../dump/archive-contents.ts';

/** By `evtenabled` of pg_event_trigger. */
const ENABLED: Record<string, string> = { O: 'ENABLE', R: 'ENABLE REPLICA', A: 'ENABLE ALWAYS' };

/**
 * Does work whose commands those of a restored database must not record: a refreshed view, a grant. No setting keeps
 * one from it that is enabled always, before version 17. Those of extensions are left alone, and so are those of others.
 */
export async function withoutEventTriggers<T>(session: PostgresSession, work: () => Promise<T>): Promise<T> {
  const enabling = await disableEventTriggers(session);
  const result = await work();
  for (const statement of enabling) await session.execute(statement);
  return result;
}

/** Resolves with the statements that enable them again, also of another session. */
export async function disableEventTriggers(session: PostgresSession): Promise<string[]> {
  const enabled = await session.query<{ name: string; state: string }>(`
    SELECT evtname AS name, evtenabled AS state FROM pg_event_trigger e
    WHERE evtenabled <> 'D' AND pg_has_role(evtowner, 'USAGE') AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_event_trigger'::regclass AND d.objid = e.oid AND d.deptype = 'e')`);
  for (const { name } of enabled) await session.execute(`ALTER EVENT TRIGGER ${quoteName(name)} DISABLE`);
  return enabled.map(({ name, state }) => `ALTER EVENT TRIGGER ${quoteName(name)} ${ENABLED[state] ?? 'ENABLE'}`);
}

/**
 * Creates the event triggers of an archive, which only a superuser may: the text of the archive is parsed, and what is
 * executed is written anew.
 */
export async function createEventTriggers(
  { report }: Pick<EngineContext, 'report'>,
  session: PostgresSession,
  entries: ArchiveEntry[],
): Promise<void> {
  warnOfDisabled(report, loginTriggers(entries));
  for (const { text, definition } of entries) {
    const statements = eventTriggerStatements(definition);
    if (statements === null) throw refused(text);
    await session.transaction(statements).catch((error) => {
      throw error instanceof SqlError ? restoreFailed('Cannot create an event trigger', [error.message]) : error;
    });
  }
}

/**
 * Returns the triggers of the event `login`, which are created disabled: they run as the connecting user, and can
 * refuse everybody.
 */
export function loginTriggers(entries: ArchiveEntry[]): string[] {
  const created = entries.map(({ definition }) => CREATION.exec(definition)?.groups);
  return created.flatMap((groups) => (groups?.event === LOGIN && groups.name ? [unquoted(groups.name)] : [])).sort();
}

export function warnOfDisabled(report: Report, names: string[]): void {
  if (names.length === 0) return;
  const message = `Created disabled, since they would run at each login: ${names.join(', ')}. To enable one: ${ENABLE}`;
  report({ event: 'warning', code: 'login_triggers_disabled', message });
}

const ENABLE = 'ALTER EVENT TRIGGER NAME ENABLE';

export function disableTrigger(name: string): string {
  return `ALTER EVENT TRIGGER ${quoteName(name)} DISABLE`;
}

/** Event of PostgreSQL 17 and newer. */
const LOGIN = 'login';

/** Names as the server quotes them. */
const NAME = '(?:[a-z_][a-z0-9_]*|"(?:[^"]|"")+")';
const TEXT = "'(?:[^']|'')*'";

const CREATION = new RegExp(
  `^CREATE EVENT TRIGGER (?<name>${NAME}) ON (?<event>[a-z_]+)(?:\\n +WHEN TAG IN \\((?<tags>${TEXT}(?:, ?${TEXT})*)\\))?\\n +EXECUTE FUNCTION (?<schema>${NAME})\\.(?<routine>${NAME})\\(\\);\\n(?:\\nALTER EVENT TRIGGER (?<altered>${NAME}) (?<state>DISABLE|ENABLE ALWAYS|ENABLE REPLICA);\\n)?$`,
);
const COMMENT = new RegExp(`^COMMENT ON EVENT TRIGGER (?<name>${NAME}) IS (?<text>${TEXT});\\n*$`);

/** Statements for the definition of an event trigger, or of its comment; `null` of any other text. */
export function eventTriggerStatements(definition: string): string[] | null {
  const comment = COMMENT.exec(definition)?.groups;
  if (comment?.name !== undefined && comment.text !== undefined) {
    return [`COMMENT ON EVENT TRIGGER ${written(comment.name)} IS ${quoteText(textOf(comment.text))}`];
  }
  const created = CREATION.exec(definition)?.groups;
  if (created?.name === undefined || created.schema === undefined || created.routine === undefined) return null;
  const { name, event, tags, schema, routine, altered, state } = created;
  if (altered !== undefined && altered !== name) return null;
  const texts = tags?.match(new RegExp(TEXT, 'g'))?.map((tag) => quoteText(textOf(tag)));
  const when = texts ? ` WHEN TAG IN (${texts.join(', ')})` : '';
  return [
    `CREATE EVENT TRIGGER ${written(name)} ON ${event}${when} EXECUTE FUNCTION ${written(schema)}.${written(routine)}()`,
    ...(event === LOGIN ? [disableTrigger(unquoted(name))] : []),
    ...(state === undefined || event === LOGIN ? [] : [`ALTER EVENT TRIGGER ${written(name)} ${state}`]),
  ];
}

function written(name: string): string {
  return quoteName(unquoted(name));
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

function textOf(literal: string): string {
  return literal.slice(1, -1).replaceAll("''", "'");
}

function refused(entry: string): UserError {
  return new UserError('content_refused', `The definition of an event trigger is not as pg_dump writes it: ${entry}`, {
    hint: 'The destination is unchanged. The snapshot was forged or damaged: do not trust it.',
  });
}
