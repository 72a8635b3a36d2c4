import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { createCode, type Definers, dropCode } from '../code.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { quoteName, quoteText, type Session } from '../connection/session.ts';
import { type CodeDefinitions, readCode } from '../definitions.ts';
import { databaseExists, dropDatabase, dropEmpty, findBeside, lockDestination } from '../server.ts';

/**
 * What a swap is about to do, written down beside the destination before it touches it: tables change places in one
 * statement, views, triggers and routines cannot. The statement that moves the tables also renames the journal, so
 * that its name says whether they have moved.
 */
export interface Journal {
  /** Whether the destination was made for the swap. */
  made: boolean;
  /** The code of the destination as it was, and as it is to be. */
  before: CodeDefinitions;
  after: CodeDefinitions;
  definers: Definers;
  /** A database that nobody needs once the tables have moved. */
  obsolete: string | null;
}

const PENDING = 'tool-journal';
const MOVED = 'tool-journal-moved';

/** The rename that says, together with those of the tables, that they have moved. */
export function journalRename(work: string): { from: [string, string]; to: [string, string] } {
  return { from: [work, PENDING], to: [work, MOVED] };
}

export async function writeJournal(server: Session, work: string, journal: Journal): Promise<void> {
  await writeRecord(server, { database: work, table: PENDING, value: journal });
}

/** One value of JSON in a table of its own. */
export async function writeRecord(
  server: Session,
  { database, table, value }: { database: string; table: string; value: unknown },
): Promise<void> {
  const path = `${quoteName(database)}.${quoteName(table)}`;
  await server.execute(`CREATE TABLE ${path} (json LONGTEXT NOT NULL) ENGINE = InnoDB CHARACTER SET utf8mb4`);
  await server.execute(`INSERT INTO ${path} VALUES (${quoteText(JSON.stringify(value))})`);
}

/** `null` when there is no such table. */
export async function readRecord<Value>(server: Session, database: string, table: string): Promise<Value | null> {
  const there = await server.query(
    `SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND TABLE_NAME = ${quoteText(table)}`,
  );
  if (there.length === 0) return null;
  const [row] = await server.query<{ json: string }>(`SELECT json FROM ${quoteName(database)}.${quoteName(table)}`);
  return row ? (JSON.parse(row.json) as Value) : null;
}

interface Work {
  server: Session;
  url: DatabaseUrl;
  work: string;
}

/**
 * Ends a swap that has begun, whoever began it: forward when the tables have moved, back when they have not. May be
 * called again and again, until the database that it worked in is dropped.
 */
export async function settle(context: Pick<EngineContext, 'signal'>, { server, url, work }: Work): Promise<void> {
  const moved = await readRecord<Journal>(server, work, MOVED);
  if (moved) {
    // Somebody may have dropped it since.
    if (await databaseExists(server, url.database ?? '')) await goForward(context, url, moved);
    if (moved.obsolete !== null) await dropDatabase(server, moved.obsolete);
    return;
  }
  const pending = await readRecord<Journal>(server, work, PENDING);
  if (pending) await goBack(context, { server, url, pending });
}

async function goForward(context: Pick<EngineContext, 'signal'>, url: DatabaseUrl, journal: Journal): Promise<void> {
  await using session = await connect(context, url);
  const { after, definers } = journal;
  await dropCode(session, await readCode(session, url.database ?? '', () => {}));
  await dropCode(session, journal.before);
  await session.execute(
    `ALTER DATABASE ${quoteName(url.database ?? '')} CHARACTER SET ${after.charset} COLLATE ${after.collation}`,
  );
  await createCode(session, after, definers);
}

/** Makes again what was dropped ahead of the renames. */
async function goBack(
  context: Pick<EngineContext, 'signal'>,
  { server, url, pending: { made, before } }: { server: Session; url: DatabaseUrl; pending: Journal },
): Promise<void> {
  if (made) return dropEmpty(server, url.database ?? '');
  if (!(await databaseExists(server, url.database ?? ''))) return;
  await using session = await connect(context, url);
  const present = await readCode(session, url.database ?? '', () => {});
  const missing = (kind: 'views' | 'triggers') => {
    const there = new Set(present[kind].map(({ name }) => name));
    return before[kind].filter(({ name }) => !there.has(name));
  };
  await createCode(
    session,
    { ...before, routines: [], events: [], views: missing('views'), triggers: missing('triggers') },
    'theirs',
  );
}

/** Settles every swap into the destination and drops what was made for it; the names of what was there. */
async function settleAll(
  context: Pick<EngineContext, 'signal'>,
  { server, url }: Omit<Work, 'work'>,
): Promise<string[]> {
  const leftovers = await findBeside(server, url.database ?? '');
  for (const work of leftovers) {
    await settle(context, { server, url, work });
    await dropDatabase(server, work);
  }
  return leftovers;
}

/** What killed loads into the destination have left; only while holding its lock. */
export async function sweepLeftovers(context: EngineContext, place: Omit<Work, 'work'>): Promise<void> {
  const leftovers = await settleAll(context, place);
  if (leftovers.length === 0) return;
  const message = `Removed what a load that was killed had left: ${leftovers.join(', ')}`;
  context.report({ event: 'warning', code: 'leftovers_swept', message });
}

/** When a run has failed; with a session of its own, whatever state the run's are in. */
export async function settleAfterFailure({ report }: EngineContext, url: DatabaseUrl): Promise<void> {
  const signal = AbortSignal.timeout(CLEAN_UP_TIMEOUT);
  try {
    await using server = await connectToServer({ signal }, url);
    await lockDestination(server, url.database ?? '');
    await settleAll({ signal }, { server, url });
  } catch {
    const message = `Could not remove what was made beside ${url.display} now; the next load into it does`;
    report({ event: 'warning', code: 'leftover', message });
  }
}

const CLEAN_UP_TIMEOUT = 20_000;
