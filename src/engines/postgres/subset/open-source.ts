import type { DatabaseUrl } from '../../database-url.ts';
import type { WithResource } from '../../shared/run-together.ts';
import type { RemoteObjects } from '../catalog/foreign-tables.ts';
import type { CatalogSchema, DatabaseLocale } from '../catalog/introspect.ts';
import { READER_LOCK_TIMEOUT } from '../connection/lock-waits.ts';
import type { PostgresSession } from '../connection/session.ts';
import type { ClientTools } from '../connection/tools.ts';
import type { ArchiveDetails } from '../dump/archive.ts';
import type { SubsetCatalog } from './subset-catalog.ts';

export interface OpenSource {
  url: DatabaseUrl;
  /** Snapshot of the first transaction, shared by all sessions. */
  snapshot: string;
  tools: ClientTools;
  locale: DatabaseLocale;
  settings: string[];
  catalog: SubsetCatalog;
  largeObjects: number;
  /** Foreign tables and servers, which a subset does not have. */
  remote: RemoteObjects;
  extensions: ArchiveDetails['extensions'];
  schemas: CatalogSchema[];
  withSession: WithResource<PostgresSession>;
}

/** Read-only, without time limits, with fixed output formats: hashes depend on them. */
export const READING_SETTINGS = {
  default_transaction_read_only: 'on',
  row_security: 'off',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '3',
  bytea_output: 'hex',
  jit: 'off',
};

/** Settings of a session beside the one that holds the locks. */
export const FURTHER_READING_SETTINGS = { ...READING_SETTINGS, lock_timeout: READER_LOCK_TIMEOUT };
