import type { LockRow } from '../../shared/rehearse/lock-record.ts';
import type { Flavour } from '../catalog/introspect.ts';
import { inDatabase, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { onRefusal } from '../connection/session-errors.ts';

/**
 * Stronger than that of statements which change rows, weakest first. SHARED_UPGRADABLE is that of a definition which
 * readers and writers do not wait for. https://dev.mysql.com/doc/refman/en/metadata-locking.html
 */
export const STRONG_MODES = [
  'SHARED_UPGRADABLE',
  'SHARED_READ_ONLY',
  'SHARED_NO_WRITE',
  'SHARED_NO_READ_WRITE',
  'EXCLUSIVE',
];

/** `SHARED_NO_WRITE` is SHARED NO WRITE. */
export function modeText(mode: string): string {
  return mode.replaceAll('_', ' ');
}

export type ReadLocks = () => Promise<LockRow<string>[]>;

/**
 * Returns what reads the locks on tables of a database; `null` where the server does not show them. Those of MariaDB's
 * performance_schema keep the mode that a statement began with: its plugin shows the present one.
 * https://mariadb.com/kb/en/metadata-lock-info-plugin/
 */
export async function lockReader(
  session: MysqlSession,
  { flavour, database }: { flavour: Flavour; database: string },
): Promise<ReadLocks | null> {
  const { enabled, locks } = SOURCES[flavour];
  const isEnabled = await session.query(enabled).catch(onRefusal(() => []));
  if (isEnabled.length === 0) return null;
  const statement = locks(database);
  return async () => {
    const rows = await session.query<{ pid: number; name: string; mode: string }>(statement);
    return rows.map(({ pid, name, mode }) => [Number(pid), name, mode.replace(/^MDL_/, '')]);
  };
}

const MODES = STRONG_MODES.map(quoteText).join(', ');
const MARIADB_MODES = STRONG_MODES.map((mode) => quoteText(`MDL_${mode}`)).join(', ');

const SOURCES: Record<Flavour, { enabled: string; locks: (database: string) => string }> = {
  mysql: {
    enabled: `SELECT 1 FROM performance_schema.setup_instruments
      WHERE NAME = 'wait/lock/metadata/sql/mdl' AND ENABLED = 'YES'`,
    locks: (database) => `SELECT t.PROCESSLIST_ID AS pid, l.OBJECT_NAME AS name, l.LOCK_TYPE AS mode
      FROM performance_schema.metadata_locks l JOIN performance_schema.threads t ON t.THREAD_ID = l.OWNER_THREAD_ID
      WHERE l.OBJECT_TYPE = 'TABLE' AND l.LOCK_STATUS = 'GRANTED' AND l.LOCK_TYPE IN (${MODES})
        AND t.PROCESSLIST_ID <> CONNECTION_ID() AND ${inDatabase('l.OBJECT_SCHEMA', database)}`,
  },
  mariadb: {
    enabled: `SELECT 1 FROM information_schema.PLUGINS
      WHERE PLUGIN_NAME = 'METADATA_LOCK_INFO' AND PLUGIN_STATUS = 'ACTIVE'`,
    locks: (database) => `SELECT THREAD_ID AS pid, TABLE_NAME AS name, LOCK_MODE AS mode
      FROM information_schema.METADATA_LOCK_INFO
      WHERE LOCK_TYPE = 'Table metadata lock' AND LOCK_MODE IN (${MARIADB_MODES})
        AND THREAD_ID <> CONNECTION_ID() AND ${inDatabase('TABLE_SCHEMA', database)}`,
  },
};
