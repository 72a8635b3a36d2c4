import type { Dialect } from '../dialect.ts';
import { blockedBy, locksOf, STRENGTH } from './locks.ts';
import { parsePostgres, splitPostgres } from './parse.ts';
import { POSTGRES_RULES } from './rules.ts';
import { TABLE_REWRITTEN } from './table-rules.ts';

export const POSTGRES: Dialect = {
  rules: POSTGRES_RULES,
  rewritten: TABLE_REWRITTEN,
  split: splitPostgres,
  parse: parsePostgres,
  locksOf: (action, { tables }) => locksOf(action, tables),
  modes: STRENGTH,
  blockedBy,
  waitSetting: { name: 'lock_timeout', limits: (value) => !/^'?(?:0\D*|default)'?$/.test(value) },
  isOneTransaction: true,
  commits: () => false,
  holdsTables: () => false,
  unlocksTables: () => false,
};
