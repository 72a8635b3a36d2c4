import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { getRequestListener, RequestError } from '@hono/node-server';
import { UserError } from '../src/runtime/errors.ts';
import { createSemaphore } from '../src/runtime/semaphore.ts';
import { shell } from '../src/text/shell-word.ts';
import { migrateQueue, type QueueTimes, startQueue } from './database/builds/queue.ts';
import { insertServiceToken } from './database/callers/tokens.ts';
import { type Database, migrate, openDatabase } from './database/database.ts';
import { createTargetLoader } from './database/targets/target-answers.ts';
import { failed } from './http/answer.ts';
import { createApp } from './http/app.ts';
import { answerHttpErrors, invalidAddress } from './http/http-errors.ts';
import { createRequestLimiter, LIMITS, type Limits } from './http/rate-limits.ts';
import type { Hub } from './hub.ts';
import { startNotifications } from './jobs/notifications.ts';
import { startObjectChecks } from './jobs/object-checks.ts';
import { startRemovals } from './jobs/removals.ts';
import { startSweeps } from './jobs/sweeps.ts';
import { ListCache } from './lists/list-cache.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createBuckets } from './objects/buckets.ts';
import { createCallerCache } from './permissions/caller-cache.ts';
import { assertReady, canServe } from './ready.ts';
import type { Address } from './settings/parse-values.ts';
import type { HubSettings } from './settings/settings.ts';
import { createIdTokens } from './sign-in/id-tokens.ts';

export interface ServeOptions {
  settings: HubSettings;
  /** A trial: the schema is made, and an owner token printed. */
  dev: boolean;
  version: string;
  /** Standard output. */
  write: (text: string) => void;
  /** Aborted: the instance ends. */
  signal: AbortSignal;
  clock: () => Date;
  /** Called when requests are answered. */
  ready?: (served: RunningHub) => void;
  /** Milliseconds in which a load balancer notices that the instance is not ready. */
  notice?: number;
  limits?: Limits;
  timeouts?: typeof TIMEOUTS;
  queueTimes?: QueueTimes | undefined;
}

export interface RunningHub {
  url: string;
  ownerToken: string | null;
  /** URL of a trial that signs in to the pages, once. */
  pages: string | null;
}

type FetchCallback = Parameters<typeof getRequestListener>[0];

/** Milliseconds: a request that takes longer to arrive is ended. */
const TIMEOUTS = { request: 30_000, headers: 10_000 };

/** Milliseconds in which `/readyz` reports not ready before connections are refused; then those for requests to end. */
const NOTICE = 5000;
const END_TIMEOUT = 25_000;

/** Changes of settings at once: with more of them, a turn of the event loop takes longer, and the changes end no sooner. */
const CHANGES_AT_ONCE = 4;

/** A removal needs one; a check and a sweep need one for their lock, and another. */
const JOB_CONNECTIONS = 5;

/** Serves until the signal is aborted, then answers the requests that have begun. */
export async function serve(options: ServeOptions): Promise<void> {
  const { settings, dev, version, write, signal, clock, notice = dev ? 0 : NOTICE, limits = LIMITS } = options;
  const { timeouts = TIMEOUTS, queueTimes } = options;
  const log = createLog({ write, clock });
  await using database = openDatabase(settings.databaseUrl);
  const { db } = database;
  if (dev) {
    await migrate(db);
    await migrateQueue(settings.databaseUrl);
  }
  await assertReady(db, settings);
  const ownerToken = dev ? await createOwnerToken(db, clock) : null;
  const buckets = createBuckets(db, settings.keys);
  // Their locks last as long as a bucket takes: requests have connections of their own.
  const ofJobs = { connections: JOB_CONNECTIONS, name: 'tool hub jobs' };
  await using jobs = openDatabase(settings.databaseUrl, ofJobs);
  await using removals = startRemovals({ db: jobs.db, buckets, log });
  await using objectChecks = startObjectChecks({ db: jobs.db, buckets, log });
  await using _sweeps = startSweeps({ db: jobs.db, buckets, trustedKeys: settings.trustedKeys, log, clock });
  await using queue = await startQueue(settings.databaseUrl, { log, times: queueTimes });
  await using _notifications = await startNotifications({ db, queue, settings, log, clock });
  const inTurn = createSemaphore(CHANGES_AT_ONCE);
  const hub: Hub = {
    ...{ settings, db, buckets, log, version, clock, removals, objectChecks, queue, limits },
    idTokens: createIdTokens(settings),
    callers: createCallerCache(db, settings),
    requests: createRequestLimiter(limits.requests),
    targetLists: new ListCache(db, clock),
    loadTargets: createTargetLoader(db),
    changeSettings: (change) => inTurn(() => db.transaction().execute(change)),
    ending: signal,
  };
  const metrics = createMetrics(database, clock);
  let ending = false;
  const isReady = async (): Promise<boolean> => !ending && (await canServe(db, settings));
  const trialCode = dev ? randomBytes(24).toString('base64url') : null;
  const app = createApp({ hub, metrics, isReady, trialCode });
  const answer: FetchCallback = async (request, env) => {
    const response = await app.fetch(request, env as never);
    if (ending) response.headers.set('connection', 'close');
    return response;
  };
  const server = createHubServer(answer, { timeouts, hub });
  await listen(server, settings.listen);
  const metricsServer = settings.metricsListen && (await serveMetrics(settings.metricsListen, metrics));
  const { port } = server.address() as AddressInfo;
  const url = `http://${settings.listen.host.includes(':') ? `[${settings.listen.host}]` : settings.listen.host}:${port}`;
  const pages = trialCode === null ? null : `${url}/sign-in/once?code=${trialCode}`;
  log.info('listening', { url, version });
  if (ownerToken !== null) write(trialText(url, { ownerToken, pages }));
  options.ready?.({ url, ownerToken, pages });
  if (!signal.aborted) await once(signal, 'abort');
  ending = true;
  log.info('ending');
  await wait(notice);
  await end(server, log);
  metricsServer?.close();
  log.info('ended');
}

function createHubServer(answer: FetchCallback, { timeouts, hub }: { timeouts: typeof TIMEOUTS; hub: Hub }): Server {
  const errorHandler = (error: unknown) => (error instanceof RequestError ? invalidAddress() : failed(error, hub));
  const server = createServer(
    {
      requestTimeout: timeouts.request,
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 32 * 1024,
      // Without one, the listener answers.
      requireHostHeader: false,
    },
    getRequestListener(answer, { errorHandler }),
  );
  answerHttpErrors(server);
  return server;
}

const TRIAL_DAYS = 7;

async function createOwnerToken(db: Database, clock: () => Date): Promise<string> {
  const expiresAt = new Date(clock().getTime() + TRIAL_DAYS * 86_400_000);
  const { token } = await insertServiceToken(db, { name: 'trial owner', role: 'owner', targetIds: [], expiresAt });
  return token;
}

function trialText(url: string, { ownerToken, pages }: { ownerToken: string; pages: string | null }): string {
  return [
    `The hub is at ${url}. Owner token, shown once:`,
    ownerToken,
    `Use it where there is a configuration (tool config init --no-tui makes one): ${shell`tool auth token - --hub ${url}`}`,
    `Its pages, for one sign-in: ${pages}`,
    '',
  ].join('\n');
}

async function listen(server: Server, { host, port }: Address): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new UserError('hub_port_taken', `The hub cannot listen on ${host}:${port}`, {
      details: [(cause as Error).message],
      hint: 'Choose another port: TOOL_HUB_LISTEN=127.0.0.1:3001',
      cause,
    });
  }
}

async function serveMetrics(address: Address, metrics: Metrics): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await listen(server, address);
  return server;
}

/** Answers what has begun; ends what takes too long. */
async function end(server: Server, log: Log): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const late = setTimeout(() => {
    log.error('Requests were cut off that took too long');
    server.closeAllConnections();
  }, END_TIMEOUT);
  server.closeIdleConnections();
  await closed;
  clearTimeout(late);
}
