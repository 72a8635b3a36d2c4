import * as v from 'valibot';
import { lineOf } from './git-state.ts';

export const LONGEST_VERSION = 255;
/** Recorded migrations tables of a database. */
export const MOST_MIGRATION_TABLES = 20;

/** Versions of a migrations table in a manifest: the last applied. */
export const MOST_VERSIONS = 1000;

/** Names a migration: one line, bounded. */
const version = v.pipe(lineOf(LONGEST_VERSION), v.nonEmpty('must not be empty'));

const facts = {
  /** Name from the table of `src/engines/shared/migrations.ts`; other versions of this program know others. */
  tool: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be a tool')),
  /** `schema.table` */
  table: version,
  count: v.pipe(
    v.number(),
    v.check((number) => Number.isSafeInteger(number) && number > 0, 'must be a whole number from 1'),
  ),
  /** SHA-256 of all versions, in any order. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256')),
};

/** A migrations table in a manifest: versions in the order in which they were applied. */
export const migrationsSchema = v.pipe(
  v.array(
    v.object({
      ...facts,
      versions: v.pipe(
        v.array(version),
        v.minLength(1, 'must not be empty'),
        v.maxLength(MOST_VERSIONS, `must have at most ${MOST_VERSIONS} items`),
      ),
    }),
  ),
  v.maxLength(MOST_MIGRATION_TABLES, `must have at most ${MOST_MIGRATION_TABLES} items`),
);

export type Migrations = v.InferOutput<typeof migrationsSchema>[number];

/** The same in lists. */
export const appliedSchema = v.pipe(
  v.array(v.object({ ...facts, newest: version })),
  v.maxLength(MOST_MIGRATION_TABLES, `must have at most ${MOST_MIGRATION_TABLES} items`),
);

export type AppliedMigrations = v.InferOutput<typeof appliedSchema>[number];

export function appliedOf(migrations: Migrations[] = []): AppliedMigrations[] {
  return migrations.flatMap(({ versions, ...rest }) => {
    const newest = versions.at(-1);
    return newest === undefined ? [] : [{ ...rest, newest }];
  });
}

export function isVersion(text: string): boolean {
  return v.is(version, text);
}
