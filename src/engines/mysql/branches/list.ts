import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { Branch } from '../../facets/copies.ts';
import { readSizes } from '../catalog/tables.ts';
import { connectToServer } from '../connection/connect.ts';
import { MARK, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { destinationName } from '../server/server.ts';
import { type BranchMark, parseBranchMark } from './branch-mark.ts';

export interface MarkedBranch extends Branch {
  mark: BranchMark;
}

/** The branches of a destination, by a few queries whatever their number. */
export async function listBranches(context: EngineContext, url: DatabaseUrl): Promise<Branch[]> {
  await using server = await connectToServer(context, url);
  const found = await findBranches(server, url.database ?? '', { sizes: true });
  return found.map(({ mark: _, ...branch }) => branch);
}

export interface DestinationMark {
  database: string;
  mark: BranchMark;
}

export async function findMarks(server: MysqlSession, destination: string): Promise<DestinationMark[]> {
  const of = await destinationName(server, destination);
  return (await readMarks(server)).filter(({ mark }) => mark.of === of);
}

/** Reads the marks of the branches of every destination. */
export async function readMarks(server: MysqlSession): Promise<DestinationMark[]> {
  const rows = await server.query<{ home: string; comment: string }>(
    `SELECT TABLE_SCHEMA AS home, TABLE_COMMENT AS comment FROM information_schema.TABLES WHERE TABLE_NAME = ${quoteText(MARK)} AND TABLE_COMMENT LIKE '{"tool":%' ORDER BY TABLE_SCHEMA`,
  );
  return rows.flatMap(({ home, comment }) => {
    const mark = parseBranchMark(comment);
    return mark ? [{ database: home, mark }] : [];
  });
}

export async function findBranches(server: MysqlSession, destination: string, { sizes = false } = {}) {
  return await describeBranches(server, await findMarks(server, destination), { sizes, destination });
}

export async function describeBranches(
  server: MysqlSession,
  marked: DestinationMark[],
  { sizes, destination }: { sizes: boolean; destination?: string },
): Promise<MarkedBranch[]> {
  const marks = marked.filter(({ mark }) => mark.tool === 'branch');
  const isDestination = (database: string, { of }: BranchMark): boolean => database === of || database === destination;
  if (marks.length === 0) return [];
  const databases = marks.map(({ database }) => database);
  const bytes = sizes ? await readSizes(server, `TABLE_SCHEMA IN (${databases.map(quoteText).join(', ')})`) : null;
  const clients = sizes ? await readClients(server, databases) : null;
  return marks.map(({ database, mark }) => {
    const sizeBytes = bytes && (bytes.get(database) ?? 0);
    return {
      ...{ name: mark.name, database, current: isDestination(database, mark) },
      ...{ createdAt: mark.created_at, resetAt: mark.reset_at },
      ...{ snapshot: mark.snapshot, repository: mark.repository, gitBranch: mark.git_branch, owner: mark.owner },
      ...{ tree: mark.tree, expiresAt: mark.expires_at, isProtected: mark.protected, origin: mark.origin },
      ...{ sizeBytes, ownBytes: sizeBytes },
      clients: clients?.get(database) ?? 0,
      // The server counts no sessions of a database.
      sessions: null,
      mark,
    };
  });
}

/** Counts the sessions that the user may see: without PROCESS, its own. */
async function readClients(server: MysqlSession, databases: string[]): Promise<Map<string, number>> {
  const rows = await server.query<{ name: string; clients: number | string }>(
    `SELECT DB AS name, COUNT(*) AS clients FROM information_schema.PROCESSLIST WHERE DB IN (${databases.map(quoteText).join(', ')}) AND ID <> CONNECTION_ID() GROUP BY DB`,
  );
  return new Map(rows.map(({ name, clients }) => [name, Number(clients)]));
}
