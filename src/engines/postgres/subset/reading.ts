import type { DatabaseUrl } from '../../engine.ts';
import type { WithResource } from '../../shared/resource-pool.ts';
import type { PsqlSession } from '../connection/session.ts';
import type { RemoteObjects } from '../foreign-tables.ts';
import type { DatabaseLocale } from '../introspect.ts';
import type { ClientTools } from '../tools.ts';
import type { SubsetCatalog } from './subset-catalog.ts';

/** A source as long as it is open, with all that making a subset of it needs to know. */
export interface OpenSource {
  url: DatabaseUrl;
  /** Of the transaction that all the others see the database by. */
  snapshot: string;
  tools: ClientTools;
  locale: DatabaseLocale;
  /** `ALTER DATABASE … SET`, as `name=value`. */
  settings: string[];
  catalog: SubsetCatalog;
  /** How many it has. */
  largeObjects: number;
  /** Foreign tables and servers, which a subset does not have. */
  remote: RemoteObjects;
  withSession: WithResource<PsqlSession>;
}

/** What reads a source: never writes, never gives up, and writes values in the one way on which their hashes depend. */
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
