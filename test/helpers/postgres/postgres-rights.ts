import { expect } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { RunEvent, WarningEvent } from '../../../src/results/events.ts';
import type { HiddenObjects } from '../../../src/results/manifest/hidden-objects.ts';
import { normalized, withDetails } from '../databases/build-and-load.ts';
import { EVERY_OBJECT } from './every-object.ts';
import { type TestPostgres, testContext } from './postgres-server.ts';

const SOURCE = 'all_kinds';

/** What a role needs to dump all of it, but for the options of others' user mappings. */
const READABLE = `
  CREATE USER MAPPING FOR reader SERVER far OPTIONS (password 'own');
  CREATE USER MAPPING FOR other SERVER far OPTIONS (password 'of another');
  ALTER USER MAPPING FOR PUBLIC SERVER far OPTIONS (ADD password 'of all');
  CREATE SCHEMA only_code; CREATE FUNCTION only_code.f() RETURNS integer LANGUAGE sql AS 'SELECT 1';
  CREATE SCHEMA nothing_in_it;
  SELECT lo_from_bytea(4711, 'x'), lo_from_bytea(4712, 'y'); GRANT SELECT ON LARGE OBJECT 4711, 4712 TO reader;
  GRANT USAGE ON FOREIGN SERVER far TO reader;
  DO $$ DECLARE s text; BEGIN FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO reader', s);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO reader', s);
    EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %I TO reader', s);
  END LOOP; END $$`;

/** A statement for each object on which rights are granted; identifies it as PostgreSQL does. */
const REVOCATIONS = `
  WITH own AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
  objects (what, name) AS (
    SELECT 'SCHEMA', quote_ident(nspname) FROM pg_namespace WHERE oid IN (SELECT oid FROM own)
    UNION ALL SELECT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass::text FROM pg_class
      WHERE relnamespace IN (SELECT oid FROM own) AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    UNION ALL SELECT 'ROUTINE', oid::regprocedure::text FROM pg_proc WHERE pronamespace IN (SELECT oid FROM own)
    UNION ALL SELECT 'TYPE', t.oid::regtype::text FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
      WHERE typnamespace IN (SELECT oid FROM own) AND (typtype IN ('e', 'd', 'r') OR c.relkind = 'c')
    UNION ALL SELECT 'LANGUAGE', quote_ident(lanname) FROM pg_language WHERE lanpltrusted
    UNION ALL SELECT 'FOREIGN DATA WRAPPER', quote_ident(fdwname) FROM pg_foreign_data_wrapper
    UNION ALL SELECT 'FOREIGN SERVER', quote_ident(srvname) FROM pg_foreign_server
    UNION ALL SELECT 'LARGE OBJECT', oid::text FROM pg_largeobject_metadata)
  SELECT format('REVOKE ALL ON %s %s FROM PUBLIC, reader', what, name) FROM objects
  UNION ALL SELECT format('REVOKE ALL ON %1$s FROM reader; GRANT SELECT (%2$I) ON %1$s TO reader', c.oid::regclass, a.attname)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
    WHERE c.relnamespace IN (SELECT oid FROM own) AND c.relkind IN ('r', 'p')
  UNION ALL VALUES ('ALTER ROLE reader NOBYPASSRLS')
  ORDER BY 1`;

/** Makes a database with an object of every kind, and gives the statements that take a right on each from its reader. */
export async function createRightsSource(server: TestPostgres): Promise<string[]> {
  await server.psql('postgres', {
    sql: `CREATE ROLE reader LOGIN PASSWORD 'reader' BYPASSRLS; CREATE ROLE other`,
  });
  await server.createDatabase(SOURCE);
  await server.psql(SOURCE, { sql: `${EVERY_OBJECT}; ${READABLE}` });
  const statements = await server.psql(SOURCE, { sql: REVOCATIONS });
  return statements.trim().split('\n');
}

export interface PostgresOutcome {
  /** The hint of the build that was refused; `null` where it succeeded at once. */
  refusal: string | null;
  hidden: HiddenObjects[];
}

/**
 * Builds a copy of the source as its reader after a statement. A refusal must name SQL that helps; the snapshot must
 * load, and by pg_dump as a superuser lack exactly what it announces.
 */
export async function checkPostgresRights(
  server: TestPostgres,
  { database, revoke, workingDirectory }: { database: string; revoke: string; workingDirectory: string },
): Promise<PostgresOutcome> {
  await server.psql('postgres', { sql: `CREATE DATABASE ${database} TEMPLATE ${SOURCE}` });
  await server.psql(database, { sql: revoke });
  const copy = `${database}_copy`;
  const snapshot = {
    src_url: server.url(database).replace(/postgres:[^/@]+@/, 'reader:reader@'),
    dst_url: server.url(copy),
    schema_config: { use_default_schema: false },
  };
  const settings = { working_directory: workingDirectory, targets: { [database]: { snapshot } } };
  const events: RunEvent[] = [];
  const context = testContext({ settings, events });
  const first = await build(context, { target: database, cpus: 2 }).catch((error) => error);
  let refusal: string | null = null;
  if (first instanceof Error) {
    refusal = String((first as Error & { hint?: string }).hint);
    const help = /run on the source: (.*)$/s.exec(refusal)?.[1];
    expect(help, `${first.message}: ${refusal}`).toBeDefined();
    await server.psql(database, { sql: help ?? '' });
  }
  const { hidden = [] } = refusal === null ? first : await withDetails(build(context, { target: database, cpus: 2 }));
  const warnings = events.filter(
    (event): event is WarningEvent => event.event === 'warning' && event.code === 'objects_hidden',
  );
  expect(new Set(warnings.map(({ message }) => message)).size).toBe(hidden.length);

  const planned = await planLoad(context, { target: database, cpus: 2, remoteTables: true });
  expect(planned.plan.snapshot?.hidden ?? []).toEqual(hidden);
  await withDetails(applyLoad(context, planned));
  const dumpOf = (name: string): Promise<string[]> => server.dump(name, '--load-via-partition-root').then(normalized);
  const expected = (await dumpOf(database)).map((statement) => withoutHidden(statement, hidden));
  expect((await dumpOf(copy)).sort()).toEqual(expected.sort());
  await server.psql('postgres', { sql: 'ALTER ROLE reader BYPASSRLS' });
  await server.psql('postgres', { sql: `DROP DATABASE ${database}` });
  await server.psql('postgres', { sql: `DROP DATABASE ${copy}` });
  return { refusal, hidden };
}

function withoutHidden(statement: string, hidden: HiddenObjects[]): string {
  const mapping = /^CREATE USER MAPPING FOR (\S+) SERVER (\S+) OPTIONS/.exec(statement);
  if (!mapping) return statement;
  const name = `${mapping[2]} for ${mapping[1]?.toLowerCase()}`;
  const isHidden = hidden.some(({ kind, names }) => kind === 'user mapping option' && names.includes(name));
  return isHidden ? statement.replace(/ OPTIONS [\s\S]*$/, '') : statement;
}
