import { expect, it } from 'vitest';
import { quoteName } from '../../../src/engines/postgres/connection/quote.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';
import { trials } from '../../helpers/trials.ts';
import { checkNames, type NamedWorlds } from '../random-names.ts';

const part = trials('data/names-postgres');

describeWithPostgres('a PostgreSQL database whose names are random bytes', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  it(part.title('is built, loaded, reduced and sanitized, or refused'), { timeout: part.timeout }, async () => {
    const done: Awaited<ReturnType<typeof checkNames>>[] = [];
    await part.each(async ({ seed }) => {
      done.push(await checkNames({ world: worldOn(server), directory: folder.path, seeds: [seed] }));
    });
    // Refusing everything would be safe as well.
    for (const operation of ['build', 'load', 'subset', 'sanitize'] as const) {
      const worked = done.reduce((sum, one) => sum + one[operation], 0);
      if (part.count > 2) expect(worked, operation).toBeGreaterThanOrEqual(done.length / 2);
    }
  });
});

function worldOn(server: TestPostgres): NamedWorlds {
  return {
    url: server.url,
    bytes: 63,
    refused: /\0|^pg_/,
    dump: (database) => server.dump(database),
    databases: server.databases,
    table: (_, [schema = '', table = '']) => `${schema}.${table}`,
    async create(database, names) {
      await server.createDatabase(database);
      const [
        schema,
        table,
        column,
        other,
        index,
        check,
        key,
        type,
        label,
        sequence,
        view,
        routine,
        trigger,
        policy,
        role,
        tag,
      ] = names.map(quoteName);
      await server.psql(database, {
        sql: `CREATE SCHEMA ${schema}; SET search_path = ${schema}; CREATE TABLE public.victim (id integer);
          CREATE TYPE ${type} AS ENUM (${literal(names[8])}, 'x');
          CREATE SEQUENCE ${sequence};
          CREATE TABLE ${table} (${column} integer CONSTRAINT ${key} PRIMARY KEY, ${other} text DEFAULT ${literal(names[3])}, ${tag} ${type});
          ALTER TABLE ${table} ADD CONSTRAINT ${check} CHECK (${other} <> '');
          CREATE INDEX ${index} ON ${table} (${other});
          INSERT INTO ${table} SELECT i, ${literal(names[0])} || i, ${literal(names[8])} FROM generate_series(1, 5) i;
          CREATE TABLE ${label} (${role} integer REFERENCES ${table}, ${label} text);
          INSERT INTO ${label} VALUES (1, ${literal(names[1])});
          CREATE VIEW ${view} AS SELECT ${column}, ${other} FROM ${table};
          CREATE FUNCTION ${routine}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
          CREATE TRIGGER ${trigger} BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${routine}();
          CREATE POLICY ${policy} ON ${table} USING (true);
          COMMENT ON TABLE ${table} IS ${literal(names.join(' '))}`,
      });
    },
    async drop(databases) {
      for (const name of databases)
        await server.psql('postgres', { sql: `DROP DATABASE ${quoteName(name)} WITH (FORCE)` });
    },
  };
}

/** Independent of the program's own quoting. */
function literal(text = ''): string {
  return `U&'${Array.from(text, (character) => `\\+${(character.codePointAt(0) ?? 0).toString(16).padStart(6, '0')}`).join('')}'`;
}
