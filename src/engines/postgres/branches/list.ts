import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { Branch } from '../../facets/copies.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { type BranchMark, belongsTo, parseBranchMark } from '../swap/mark.ts';

export interface MarkedBranch extends Branch {
  mark: BranchMark;
}

export async function listBranches(context: EngineContext, url: DatabaseUrl): Promise<Branch[]> {
  await using server = await connectToServer(context, url);
  const found = await findBranches(server, url.database ?? '', { sizes: true });
  return found.map(({ mark: _, ...branch }) => branch);
}

interface DatabaseRow {
  database: string;
  oid: number;
  comment: string | null;
  bytes: number | null;
  clients: number;
  sessions: number | null;
}

export async function findBranches(server: PostgresSession, destination: string, options: { sizes?: boolean } = {}) {
  return (await readBranches(server, options)).filter(({ mark }) => mark.of === destination);
}

/** Reads the branches of every destination. `sessions` of pg_stat_database exists since PostgreSQL 14. */
export async function readBranches(server: PostgresSession, { sizes = false } = {}): Promise<MarkedBranch[]> {
  const bytes = sizes ? `CASE WHEN has_database_privilege(d.oid, 'CONNECT') THEN pg_database_size(d.oid) END` : 'NULL';
  const rows = await server.query<DatabaseRow>(`
    WITH branches AS MATERIALIZED (
      SELECT d.oid, d.datname, c.comment
      FROM pg_database d CROSS JOIN LATERAL (SELECT shobj_description(d.oid, 'pg_database') AS comment) c
      WHERE c.comment LIKE '{"tool":"branch",%'),
    active AS (
      SELECT datid, count(*) AS clients FROM pg_stat_activity WHERE backend_type = 'client backend' GROUP BY datid)
    SELECT d.datname AS database, d.oid::int8 AS oid, d.comment, ${bytes} AS bytes,
      coalesce(a.clients, 0) AS clients, (to_jsonb(s) ->> 'sessions')::int8 AS sessions
    FROM branches d LEFT JOIN active a ON a.datid = d.oid LEFT JOIN pg_stat_database s ON s.datid = d.oid
    ORDER BY d.datname`);
  const branches = rows.flatMap((row) => {
    const mark = parseBranchMark(row.comment);
    return mark ? [describe(row, mark)] : [];
  });
  const foreign = await foreignOf(server, branches);
  return branches.filter(({ database }) => !foreign.has(database));
}

/** Finds those that another role may have marked: they are no branches. */
async function foreignOf(server: PostgresSession, branches: MarkedBranch[]): Promise<Set<string>> {
  if (branches.length === 0) return new Set();
  const marked = JSON.stringify(branches.map(({ database, mark }) => ({ database, of: mark.of })));
  const rows = await server.query<{ database: string }>(`
    SELECT d.datname AS database FROM json_to_recordset(${quoteText(marked)}) AS j (database text, of text)
      JOIN pg_database d ON d.datname = j.database WHERE NOT ${belongsTo('j.of')}`);
  return new Set(rows.map(({ database }) => database));
}

function describe({ database, oid, bytes, clients, sessions }: DatabaseRow, mark: BranchMark): MarkedBranch {
  const { branch } = mark;
  return {
    name: branch.name,
    database,
    current: database === mark.of,
    createdAt: branch.created_at,
    resetAt: branch.reset_at,
    snapshot: mark.destination_oid === oid ? mark.snapshot : null,
    repository: branch.repository,
    gitBranch: branch.git_branch,
    owner: branch.owner,
    tree: branch.tree,
    expiresAt: branch.expires_at,
    isProtected: branch.protected,
    origin: branch.origin,
    sizeBytes: bytes,
    ownBytes: branch.cloned ? null : bytes,
    clients,
    sessions: sessions === null || branch.sessions === null ? null : Math.max(0, sessions - branch.sessions),
    mark,
  };
}
