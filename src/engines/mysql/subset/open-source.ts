import type { DatabaseUrl } from '../../database-url.ts';
import type { WithResource } from '../../shared/run-together.ts';
import type { Server } from '../catalog/introspect.ts';
import type { MysqlSession } from '../connection/session.ts';
import type { SubsetCatalog } from './subset-catalog.ts';

export interface OpenSource {
  url: DatabaseUrl;
  database: string;
  server: Server;
  catalog: SubsetCatalog;
  withSession: WithResource<MysqlSession>;
  sessions: number;
}

/** Settings of reading sessions: bytes as they are stored, and indexes used where there are any. */
export const READING_SETTINGS = ['SET character_set_results = NULL', '/*M!100600 SET join_cache_level = 2 */'];
