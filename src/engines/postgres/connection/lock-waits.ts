/**
 * Who changes a table waits for the session that holds its lock. Another reader of the same snapshot would wait behind
 * them, while that session's work waits for the reader: a deadlock that no server notices.
 */
export const READER_LOCK_TIMEOUT = '2s';

/** pg_dump, where it starts beside the session that takes the locks: it may also wait for others. In ms. */
const PG_DUMP_LOCK_WAIT = 10_000;

export const PG_DUMP_LOCK_FLAG = `--lock-wait-timeout=${PG_DUMP_LOCK_WAIT}`;
