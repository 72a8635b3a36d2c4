import { describeWithMysql } from '../mysql/mysql-server.ts';
import { describeWithPostgres } from '../postgres/postgres-server.ts';
import type { ServerKind } from './any-server.ts';

/** A suite on a server of a kind: skipped by name where its programs are missing. */
export function describeWithKind(kind: ServerKind, name: string, suite: () => void): void {
  if (kind === 'postgres') describeWithPostgres(`postgres: ${name}`, suite);
  else describeWithMysql(kind, { name }, suite);
}
