import type { DatabaseUrl } from '../../engine.ts';
import type { WithResource } from '../../shared/resource-pool.ts';
import type { Session } from '../connection/session.ts';
import type { Server } from '../introspect.ts';
import type { SubsetCatalogue } from './subset-catalog.ts';

/** A source as long as it is open, with all that making a subset of it needs to know. */
export interface OpenSource {
  url: DatabaseUrl;
  database: string;
  server: Server;
  catalogue: SubsetCatalogue;
  withSession: WithResource<Session>;
  /** Sessions in the pool. */
  sessions: number;
}
