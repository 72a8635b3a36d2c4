import type { Dialect } from '../dialect.ts';
import { splitTokens } from '../sql/split.ts';
import { blockedBy, commits, locksOf, MODES } from './locks.ts';
import { readMysql } from './parse.ts';
import { COPIED, COPIED_ONLINE } from './rule-parts.ts';
import { MYSQL_RULES } from './rules.ts';
import { TABLE_REWRITTEN } from './table-rules.ts';
import { mysqlTokens } from './tokens.ts';

/** Seconds: longer, a wait is as good as without a limit; the server's own is a day or a year. */
const LIMITED_S = 60;

const UNLOCKING = new Set(['unlock', 'lock', 'begin']);

/** Both MySQL and MariaDB. */
export const MYSQL: Dialect = {
  rules: MYSQL_RULES,
  rewritten: TABLE_REWRITTEN,
  split: (sql) => splitTokens(sql, mysqlTokens(sql)),
  read: readMysql,
  locksOf,
  onlineText: (text) => text.replace(COPIED, COPIED_ONLINE),
  modes: MODES,
  blockedBy,
  waitSetting: {
    name: 'lock_wait_timeout',
    limits: (value) => /^\d+$/.test(value) && Number(value) <= LIMITED_S,
  },
  isSchemaDatabase: true,
  isOneTransaction: false,
  commits,
  holdsTables: ({ kind }) => kind === 'lock' || kind === 'flush',
  unlocksTables: ({ kind }) => UNLOCKING.has(kind),
};
