/**
 * Lock timeout of readers. A session that changes a table waits for the one that holds its lock. Another reader of the
 * same snapshot would wait behind it, while the work of the lock's holder waits for the reader: a deadlock that no
 * server notices.
 */
export const READER_LOCK_TIMEOUT = '2s';

/** The first session waits for the statements of others; pg_dump does for sequences and tables of extensions. */
export const LOCK_TIMEOUT = '10s';

export const PG_DUMP_LOCK_FLAG = `--lock-wait-timeout=${LOCK_TIMEOUT}`;
