import { randomBytes } from 'node:crypto';
import { BlockList } from 'node:net';
import { insertServiceToken, insertSession } from '../../../hub/database/callers/tokens.ts';
import { saveUser } from '../../../hub/database/callers/users.ts';
import { type OpenedDatabase, openDatabase } from '../../../hub/database/database.ts';
import type { Limits } from '../../../hub/http/rate-limits.ts';
import { type RunningHub, type ServeOptions, serve } from '../../../hub/serve.ts';
import { keyOf } from '../../../hub/settings/parse-values.ts';
import { GITHUB_ISSUER, GITLAB_ISSUER, type HubSettings } from '../../../hub/settings/settings.ts';
import { startPostgres, type TestPostgres } from '../postgres/postgres-server.ts';

/** A hub in this process, over a real database, with a real port. */
export interface TestHub {
  url: string;
  settings: HubSettings;
  ownerToken: string;
  /** Link that signs in to the pages once. */
  pages: string;
  database: OpenedDatabase;
  postgres: TestPostgres;
  /** Its log. */
  lines: string[];
  send(method: string, path: string, options?: Sending): Promise<Received>;
  /** Token of a session of a person in these groups. */
  person(
    name: string,
    groups: string[],
    options?: { hours?: number; page?: boolean },
  ): Promise<{ token: string; userId: string; tokenId: string }>;
  service(name: string, role: 'builder' | 'reader', targetIds: string[]): Promise<{ token: string; id: string }>;
  /** As SIGTERM does. */
  stop(): Promise<void>;
}

export interface Sending {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Received {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at, whatever the route.
  body: any;
  text: string;
}

/** A test sends more in a second than a person does. */
const NO_LIMITS: Limits = { requests: { perSecond: 1e6, burst: 1e6 }, refusedSignIns: 1e6 };

/** With `postgres`, an instance more of the same hub. */
export async function startHub(
  change: Partial<HubSettings> & Partial<Pick<ServeOptions, 'clock' | 'limits' | 'timeouts' | 'queueTimes'>> = {},
  running?: TestPostgres,
): Promise<TestHub> {
  const { clock = () => new Date(), limits = NO_LIMITS, timeouts, queueTimes, ...changed } = change;
  const postgres = running ?? (await startPostgres());
  const settings: HubSettings = {
    databaseUrl: postgres.url('postgres'),
    keys: [keyOf(randomBytes(32))],
    listen: { host: '127.0.0.1', port: 0 },
    metricsListen: null,
    publicUrl: 'https://hub.example.com',
    trustedProxies: new BlockList(),
    signIn: null,
    pages: null,
    trustedKeys: null,
    ownerGroups: ['owners'],
    memberGroups: ['developers'],
    auditorGroups: ['auditors'],
    github: { issuer: GITHUB_ISSUER, rules: [] },
    webhook: null,
    webhookNetworks: new BlockList(),
    gitlab: { issuer: GITLAB_ISSUER, rules: [] },
    ...changed,
  };
  const ending = new AbortController();
  const lines: string[] = [];
  let running_: Promise<void> = Promise.resolve();
  const { url, ownerToken, pages } = await new Promise<RunningHub>((ready, failed) => {
    running_ = serve({
      settings,
      dev: true,
      version: '0.1.0',
      write: (line) => void lines.push(line),
      signal: ending.signal,
      clock,
      limits,
      ...(timeouts && { timeouts }),
      queueTimes,
      ready,
    });
    running_.catch(failed);
  });
  const database = openDatabase(settings.databaseUrl);
  const { db } = database;
  const later = (hours: number): Date => new Date(Date.now() + hours * 3_600_000);
  return {
    url,
    settings,
    ownerToken: ownerToken ?? '',
    pages: pages ?? '',
    database,
    postgres,
    lines,
    async send(method, path, { token, body, headers = {} } = {}) {
      const response = await fetch(`${url}/api/v3${path}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json');
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson && text ? JSON.parse(text) : null,
      };
    },
    async person(name, groups, { hours = 12, page = false } = {}) {
      const user = await saveUser(db, { issuer: 'https://idp.example.com', subject: name, name, groups });
      const { token, id } = await insertSession(db, { userId: user.id, expiresAt: later(hours), page });
      return { token, userId: user.id, tokenId: id };
    },
    async service(name, role, targetIds) {
      const { token, id } = await insertServiceToken(db, { name, role, targetIds, expiresAt: later(1) });
      return { token, id };
    },
    async stop() {
      ending.abort();
      await running_;
      await database[Symbol.asyncDispose]();
      if (!running) await postgres.stop();
    },
  };
}

/** A storage profile of the hub, as an owner writes it. */
export async function putStorageProfile(hub: TestHub, name: string, settings: object): Promise<void> {
  const { status, text } = await hub.send('PUT', `/storage_profiles/${name}`, {
    token: hub.ownerToken,
    body: { settings },
    headers: { 'if-none-match': '*' },
  });
  if (status !== 201) throw new Error(text);
}

/** A target of the hub; its id. */
export async function putTarget(hub: TestHub, name: string, body: object): Promise<string> {
  const answer = await hub.send('PUT', `/targets/${name}`, {
    token: hub.ownerToken,
    body,
    headers: { 'if-none-match': '*' },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.id;
}
