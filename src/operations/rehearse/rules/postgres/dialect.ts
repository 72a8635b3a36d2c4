import type { Dialect } from '../dialect.ts';
import { splitTokens } from '../sql/split.ts';
import { blockedBy, locksOf, STRENGTH } from './locks.ts';
import { readPostgres } from './parse.ts';
import { POSTGRES_RULES } from './rules.ts';
import { TABLE_REWRITTEN } from './table-rules.ts';
import { postgresTokens } from './tokens.ts';

export const POSTGRES: Dialect = {
  rules: POSTGRES_RULES,
  rewritten: TABLE_REWRITTEN,
  split: (sql) => splitTokens(sql, postgresTokens(sql)),
  read: readPostgres,
  locksOf: (action, { tables }) => locksOf(action, tables),
  modes: STRENGTH,
  blockedBy,
  waitSetting: { name: 'lock_timeout', limits: (value) => !/^'?(?:0\D*|default)'?$/.test(value) },
  isSchemaDatabase: false,
  isOneTransaction: true,
  commits: () => false,
  holdsTables: () => false,
  unlocksTables: () => false,
};
