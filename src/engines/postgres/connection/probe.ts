import { isIP } from 'node:net';
import type { ConnectionFailure } from '../../../results/configuration/connection-failures.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { Probe, ProbeRequest } from '../../facets/connect.ts';
import { failedProbe, SIZES_AT_ONCE, UNKNOWN } from '../../shared/connection/probe-states.ts';
import { groupsOf } from '../../shared/groups.ts';
import { findFailure, linesOf, MAINTENANCE_DATABASES, tryToConnect } from './connect.ts';
import { concernsServer } from './failure.ts';
import { identityOf, readServerIdentity } from './identity.ts';
import { quoteText } from './quote.ts';
import type { PostgresSession } from './session.ts';
import { ConnectionLost } from './session-errors.ts';
import { anyClientTools, type ClientTools } from './tools.ts';
import { withDatabase } from './url.ts';

/** One connection serves all databases of a server and user. */
export async function probe(context: EngineContext, request: ProbeRequest): Promise<void> {
  const probing: ProbeRun = { ...request, tools: await anyClientTools(context), refused: new Map() };
  const unlisted = await probeTogether(context, probing);
  // A proxy may know it: needs a connection of its own.
  const byName = Map.groupBy(unlisted, (index) => request.urls[index]?.database);
  for (const indexes of byName.values()) {
    const take: ProbeRun['take'] = (_, found) => {
      for (const index of indexes) request.take(index, found);
    };
    const url = request.urls[indexes[0] ?? 0];
    if (url) await probeAlone(context, { ...probing, urls: [url], take });
  }
}

interface ProbeRun extends ProbeRequest {
  tools: ClientTools;
  refused: Map<number, Refusal>;
}

interface Refusal {
  failure: ConnectionFailure;
  words: string;
}

interface OpenServer {
  session: PostgresSession;
  /** The URL of the session's database; `null` for a maintenance database. */
  index: number | null;
}

/** Returns databases that the server does not list and a proxy may have. */
async function probeTogether(context: EngineContext, probing: ProbeRun): Promise<number[]> {
  const opened = await openServer(context, probing);
  if (!opened) return [];
  await using session = opened.session;
  const started = performance.now();
  await session.execute('SELECT 1');
  const latency_ms = Math.max(1, Math.round(performance.now() - started));
  const signs = await readServerIdentity(session);
  // Only the server knows the database of a URL without one, and a proxy may rename databases.
  const names = probing.urls.map(({ database }, index) =>
    database === null || index === opened.index ? signs.database : database,
  );
  const listed = await readDatabases(session, names);
  const unlisted: number[] = [];
  const usable = new Map<number, Probe>();
  for (const [index, url] of probing.urls.entries()) {
    const row = listed.get(names[index] ?? '');
    const refusal = probing.refused.get(index);
    if (refusal && refusal.failure !== 'database_missing') {
      probing.take(index, refusedProbe(refusal));
      continue;
    }
    if (!row) {
      if (refusal || leadsTo(url, signs)) probing.take(index, missing(url));
      else unlisted.push(index);
      continue;
    }
    const closed = index === opened.index ? null : closedBy(row);
    if (closed) {
      probing.take(index, failedProbe(closed, REASONS[closed](row.name, url.user)));
      continue;
    }
    const found: Probe = {
      state: { ...UNKNOWN, status: 'ok', latency_ms, server_version: signs.version },
      identity: identityOf(signs, row),
    };
    usable.set(index, found);
    probing.take(index, found);
  }
  if (probing.sizes) await takeSizes(session, { probing, usable, names });
  return unlisted;
}

/** On the first database that accepts the connection; `null` when none does. */
async function openServer(context: EngineContext, probing: ProbeRun): Promise<OpenServer | null> {
  const { urls, take, refused } = probing;
  for (const [index, url] of urls.entries()) {
    const session = await tryToConnect(context, url, probing);
    if (!(session instanceof ConnectionLost)) return { session, index };
    const refusal = await refusalOf(context, probing, { url, cause: session });
    if (concernsServer(refusal.failure, session)) {
      for (const each of urls.keys()) if (each >= index) take(each, refusedProbe(refusal));
      for (const [each, earlier] of refused) take(each, refusedProbe(earlier));
      return null;
    }
    refused.set(index, refusal);
    for (const database of index === 0 ? MAINTENANCE_DATABASES : []) {
      const elsewhere = await tryToConnect(context, withDatabase(url, database), probing);
      if (!(elsewhere instanceof ConnectionLost)) return { session: elsewhere, index: null };
    }
  }
  for (const [each, refusal] of refused) take(each, refusedProbe(refusal));
  return null;
}

async function refusalOf(
  context: EngineContext,
  { tools }: ProbeRun,
  { url, cause }: { url: DatabaseUrl; cause: ConnectionLost },
): Promise<Refusal> {
  const lines = linesOf(cause).map((line) => line.trim());
  return { failure: await findFailure(context, { url, tools, cause }), words: lines.join('; ') };
}

function refusedProbe({ failure, words }: Refusal): Probe {
  return failedProbe(failure, words);
}

async function probeAlone(context: EngineContext, probing: ProbeRun): Promise<void> {
  const [url] = probing.urls;
  if (!url) return;
  const session = await tryToConnect(context, url, probing);
  if (session instanceof ConnectionLost) {
    probing.take(0, refusedProbe(await refusalOf(context, probing, { url, cause: session })));
    return;
  }
  await session.close();
  await probeTogether(context, { ...probing, refused: new Map() });
}

export interface ListedDatabase {
  name: string;
  oid: number;
  open: boolean;
  permitted: boolean;
}

async function readDatabases(session: PostgresSession, names: string[]): Promise<Map<string, ListedDatabase>> {
  const rows = await session.query<ListedDatabase>(`
    SELECT datname AS name, oid::int8 AS oid, datallowconn AS open, has_database_privilege(oid, 'CONNECT') AS permitted
    FROM pg_database WHERE datname IN (${[...new Set(names)].map(quoteText).join(', ')})`);
  return new Map(rows.map((row) => [row.name, row]));
}

interface SizesRequest {
  probing: ProbeRun;
  usable: Map<number, Probe>;
  names: string[];
}

async function takeSizes(session: PostgresSession, { probing, usable, names }: SizesRequest): Promise<void> {
  const byName = [...Map.groupBy(usable.keys(), (index) => names[index] ?? '')];
  for (const part of groupsOf(byName, SIZES_AT_ONCE)) {
    const rows = await session.query<{ name: string; bytes: number }>(`
      SELECT datname AS name, pg_database_size(oid) AS bytes FROM pg_database
      WHERE datname IN (${part.map(([name]) => quoteText(name)).join(', ')})`);
    const sizes = new Map(rows.map(({ name, bytes }) => [name, bytes]));
    for (const [name, indexes] of part) {
      for (const index of indexes) {
        const found = usable.get(index);
        if (found) probing.take(index, { ...found, state: { ...found.state, size_bytes: sizes.get(name) ?? null } });
      }
    }
  }
}

/** Reports whether the server's address is that of the URL, with no proxy between. */
function leadsTo({ hosts, parameters }: DatabaseUrl, { port, address }: { port: number; address: string | null }) {
  const [first, ...others] = hosts;
  if (!first || others.length > 0 || parameters.service !== undefined || (first.port ?? 5432) !== port) return false;
  if (address === null) return first.host === '' || first.host.startsWith('/');
  return first.host === address || (first.host === 'localhost' && isIP(address) !== 0 && /^(127\.|::1)/.test(address));
}

type ClosedReason = 'closed_database' | 'not_permitted';

function closedBy({ open, permitted }: ListedDatabase): ClosedReason | null {
  if (!open) return 'closed_database';
  return permitted ? null : 'not_permitted';
}

const REASONS: Record<ClosedReason, (database: string, user: string | null) => string> = {
  closed_database: (database) => `database "${database}" is not currently accepting connections`,
  not_permitted: (database, user) => `${user ?? 'the user'} has no CONNECT privilege for database "${database}"`,
};

function missing({ database }: DatabaseUrl): Probe {
  return failedProbe('database_missing', `database "${database}" does not exist`);
}
