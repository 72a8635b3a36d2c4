import { UserError } from '../../../../runtime/errors.ts';
import { boundedList } from '../../../../text/bounded-list.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import { checkCode } from '../../catalog/definitions/check-definitions.ts';
import { settingsOf } from '../../catalog/definitions/code.ts';
import type { Code } from '../../catalog/definitions/definitions.ts';
import { listCode, readCode } from '../../catalog/definitions/read-definitions.ts';
import type { Flavour } from '../../catalog/introspect.ts';
import { readNameCase } from '../../catalog/name-case.ts';
import { readRights } from '../../catalog/rights/rights.ts';
import { inDatabase, quoteName, quoteText } from '../../connection/quote.ts';
import { type MysqlSession, PLAIN_GRAMMAR } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { createText, dropTrigger, dynamic } from '../../swap/swap-packet.ts';
import { tidyBodies } from '../../swap/tidy-bodies.ts';

/** The triggers of tables, in their order. Rejects when one could not be created again as it is. */
export async function readTriggers(session: MysqlSession, { url, names }: { url: DatabaseUrl; names: string[] }) {
  const database = url.database ?? '';
  const rights = await readRights(session);
  const lacks = ['TRIGGER', 'LOCK TABLES'].filter((right) => !rights.onDatabase(database, right));
  if (lacks.includes('TRIGGER')) {
    throw notReplaceable(`Without the right TRIGGER on ${database} it is unknown whether triggers would fire`, []);
  }
  const { fold } = await readNameCase(session, names);
  const wanted = new Set(names.map(fold));
  const listed = (await listCode(session, database)).filter(
    ({ kind, table_ }) => kind === 'TRIGGER' && table_ != null && wanted.has(fold(table_)),
  );
  if (listed.length === 0) return [];
  const described = listed.map(({ name, table_ }) => `${name} on ${table_}`);
  if (lacks.length > 0) throw notReplaceable(`Triggers would fire: no right LOCK TABLES on ${database}`, described);
  const ours = new Set(listed.map(({ name }) => name));
  const code = await readCode(session, database, () => {});
  const triggers = code.triggers.filter(({ name }) => ours.has(name));
  const same = new Set(
    triggers
      .filter(({ bytes, database_collation: own }) => bytes === undefined && (own ?? code.collation) === code.collation)
      .map(({ name }) => name),
  );
  const unlike = described.filter((_, at) => !same.has(listed[at]?.name ?? ''));
  if (unlike.length > 0) {
    const why = 'written in another character set, created under another collation of the database, or unreadable';
    throw notReplaceable(`Triggers would fire, and cannot be created again as they are: ${why}`, unlike);
  }
  return checkCode({ routines: [], views: [], triggers, events: [] }, database).triggers;
}

/** Equal unless a trigger was created or dropped: none can be changed otherwise. */
export async function triggerTimes(session: MysqlSession, database: string): Promise<string> {
  const rows = await session.query(
    `SELECT TRIGGER_NAME AS name, CREATED AS created FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)} ORDER BY TRIGGER_NAME`,
  );
  return JSON.stringify(rows);
}

/** Statements of a packet that drop triggers, the last one first: those that are missing after a crash are the last. */
export function dropStatements(triggers: Code[], flavour: Flavour): string[] {
  return triggers.toReversed().map((trigger) => {
    const drop = dropTrigger(trigger);
    // MySQL prepares no such statements.
    return flavour === 'mariadb' ? dynamic(drop) : drop;
  });
}

export function createStatements(triggers: Code[], flavour: Flavour): string[] {
  return triggers.flatMap((trigger) => {
    const create = createText(trigger, 'theirs');
    if (flavour === 'mysql') return [...settingsOf(trigger), create, PLAIN_GRAMMAR];
    // The settings of a trigger may give backslashes in a text another meaning.
    return [
      `SET @tool_create = ${quoteText(create)}`,
      ...settingsOf(trigger),
      'EXECUTE IMMEDIATE @tool_create',
      PLAIN_GRAMMAR,
    ];
  });
}

/** Creates the triggers in a database with equal tables, by the texts of the exchange, and drops them. */
export async function tryTriggers(
  session: MysqlSession,
  { database, triggers, flavour }: { database: string; triggers: Code[]; flavour: Flavour },
): Promise<void> {
  await session.execute(`USE ${quoteName(database)}`);
  const statements = [...createStatements(triggers, flavour), ...dropStatements(triggers, flavour)];
  await session.query(statements.join('\n;\n')).catch((error) => {
    if (!(error instanceof SqlError)) throw error;
    throw notReplaceable(`Triggers would fire, and the user may not create them again: ${error.message}`, [
      triggers.map(({ name }) => name).join(', '),
    ]);
  });
}

/** MySQL: takes the semicolons of the packet from the triggers, while their tables are locked. */
export async function tidyTriggers(
  session: MysqlSession,
  { database, triggers }: { database: string; triggers: Code[] },
): Promise<void> {
  const present = await session.query<Pick<Code, 'name' | 'create'>>(
    `SELECT TRIGGER_NAME AS name, ACTION_STATEMENT AS \`create\` FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)}`,
  );
  const none = { routines: [], views: [], events: [] };
  await tidyBodies(session, {
    destination: database,
    after: { ...none, triggers },
    present: {
      ...none,
      triggers: triggers.flatMap((trigger) => {
        const found = present.find(({ name }) => name === trigger.name);
        return found ? [{ ...trigger, create: found.create }] : [];
      }),
    },
    definers: 'theirs',
    granted: new Set(),
  });
}

/** Most names in a message. */
const LISTED = 20;

export function notReplaceable(message: string, names: string[]): UserError {
  return new UserError('rows_not_replaceable', message, {
    details: names.length > 0 ? [boundedList(names, LISTED)] : [],
    hint: 'Leave these tables out, or load without --only.',
  });
}
