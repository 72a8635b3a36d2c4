import type { Rule } from '../rule.ts';
import { COLUMN_RULES } from './column-rules.ts';
import { INDEX_RULES } from './index-rules.ts';
import { REACH_RULES } from './reach.ts';
import { TABLE_REWRITTEN, TABLE_RULES } from './table-rules.ts';
import { TRANSACTION_RULES } from './transaction-rules.ts';

/** All rules of MySQL and MariaDB, in the order of docs/rehearsal-rules.md. */
export const MYSQL_RULES: Rule[] = [
  ...INDEX_RULES,
  ...COLUMN_RULES,
  ...TABLE_RULES,
  ...TRANSACTION_RULES,
  ...REACH_RULES,
  TABLE_REWRITTEN,
];
