import { expect, it } from 'vitest';
import { quoteName } from '../../../src/engines/mysql/connection/quote.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';
import { trials } from '../../helpers/trials.ts';
import { checkNames, type NamedWorlds } from '../random-names.ts';

const part = trials('data/names-mariadb');

describeWithMysql('mariadb', { name: 'a database whose names are random bytes' }, () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startMysql('mariadb'));

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

function worldOn(server: TestMysql): NamedWorlds {
  return {
    url: server.url,
    bytes: 63,
    // A name does not end in a space, a database's directory has no slash. Of a view's column that has no name of its own
    // MariaDB writes the name without control characters in front: of none but those, a definition that it refuses.
    refused: /\0|\s$|^[\p{Cc} ]+$/u,
    dump: (database) => server.dump(database).then((text) => text.replaceAll(/^.*(?:`names_\d+\w*`|USE ).*$/gm, '')),
    databases: server.databases,
    table: (database, [, table = '']) => `${database}.${table}`,
    async create(database, names) {
      await server.createDatabase(database);
      const [
        ,
        table,
        column,
        other,
        index,
        check,
        key,
        child,
        reference,
        view,
        routine,
        trigger,
        event,
        unique,
        generated,
        procedure,
      ] = names.map(quoteName);
      const row = [literal(names[0]), literal(names[1])];
      await server.sql(
        database,
        'CREATE TABLE victim (id integer)',
        `CREATE TABLE ${table} (${column} integer PRIMARY KEY, ${other} varchar(200) DEFAULT ${literal(names[3])},
          ${generated} varchar(200) AS (upper(${other})) STORED, UNIQUE KEY ${unique} (${column}, ${other}), KEY ${index} (${other}),
          CONSTRAINT ${check} CHECK (${other} <> '')) COMMENT '${names[4]?.replace(/['\\]/g, '\\$&')}'`,
        `INSERT INTO ${table} (${column}, ${other}) VALUES (1, ${row[0]}), (2, ${row[1]}), (3, DEFAULT)`,
        `CREATE TABLE ${child} (id integer PRIMARY KEY, ${reference} integer, CONSTRAINT ${key} FOREIGN KEY (${reference}) REFERENCES ${table} (${column}))`,
        `INSERT INTO ${child} VALUES (1, 1), (2, 2)`,
        `CREATE VIEW ${view} AS SELECT ${column}, ${other} FROM ${table}`,
        `CREATE FUNCTION ${routine}(a integer) RETURNS integer DETERMINISTIC RETURN a`,
        `CREATE PROCEDURE ${procedure}() SELECT 1`,
        `CREATE TRIGGER ${trigger} BEFORE UPDATE ON ${table} FOR EACH ROW SET NEW.${other} = NEW.${other}`,
        `CREATE EVENT ${event} ON SCHEDULE EVERY 1 YEAR STARTS '2037-01-01' DISABLE DO SELECT 1`,
      );
    },
    async drop(databases) {
      for (const name of databases) await server.sql('', `DROP DATABASE ${quoteName(name)}`);
    },
  };
}

/** Independent of the program's own quoting. */
function literal(text = ''): string {
  return `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`;
}
