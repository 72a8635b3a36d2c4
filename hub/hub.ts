import type { AnswerOf } from '../src/cloud/contract/routes.ts';
import type { Queue } from './database/builds/queue.ts';
import type { Connection, Database } from './database/database.ts';
import type { LoadTargets } from './database/targets/target-answers.ts';
import type { Limits, RequestLimiter } from './http/rate-limits.ts';
import type { ListCache } from './lists/list-cache.ts';
import type { Log } from './log.ts';
import type { Buckets } from './objects/buckets.ts';
import type { Caller } from './permissions/access.ts';
import type { HubSettings } from './settings/settings.ts';
import type { IdTokens } from './sign-in/id-tokens.ts';

/** All that a route is handed besides its request. */
export interface Hub {
  settings: HubSettings;
  db: Database;
  buckets: Buckets;
  idTokens: IdTokens;
  log: Log;
  version: string;
  clock: () => Date;
  /** Removes what is left of removed snapshots. */
  removals: { wake(): void };
  /** Checks objects that were reported as damaged. */
  objectChecks: { wake(): void };
  /** Builds and notifications. */
  queue: Queue;
  /** Aborted when the instance ends: requests that wait are answered. */
  ending: AbortSignal;
  limits: Limits;
  requests: RequestLimiter;
  targetLists: ListCache<AnswerOf<'listTargets'>>;
  loadTargets: LoadTargets;
  /** Runs a change of a target or a storage profile in a transaction: few at once, in the order of the requests. */
  changeSettings<Result>(change: (transaction: Connection) => Promise<Result>): Promise<Result>;
  /** Callers of tokens, remembered for a few seconds. */
  callers: CallerCache;
}

export interface CallerCache {
  find(token: string): Promise<Caller | null>;
  /** After a revocation: other instances follow within ten seconds. */
  clear(): void;
}
