import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { checkLedger } from '../../src/operations/sanitize/ledger/check.ts';
import { classify } from '../../src/operations/sanitize/ledger/classify.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import type { Context } from '../../src/runtime/context.ts';
import type { SanitizerServer } from '../contracts/sanitizer.ts';
import { CONTRACT_HOSTS } from '../contracts/servers.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';

interface Shapes {
  host: 'postgres' | 'mysql';
  /** Has whatever an engine stores rows in, or shows rows of others with. */
  schema: string[];
  query: string;
  /** Every item of the ledger. */
  items: string[];
  changes: { sql: string[]; opens: string[] }[];
}

/** In `npm test` some of the items are tried. */
const ONE_OF = process.env.TEST_FULL === '1' ? 1 : 7;

const POSTGRES: Shapes = {
  host: 'postgres',
  schema: [
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    'CREATE DOMAIN address AS varchar(80)',
    'CREATE DOMAIN feeling AS mood',
    `CREATE TABLE person (id integer PRIMARY KEY, contact address, mood mood, moods mood[], felt feeling, doc jsonb,
      shout text GENERATED ALWAYS AS (upper(contact)) STORED)`,
    `INSERT INTO person SELECT i, 'u' || i || '@real.example.org', 'sad', '{ok,sad}', 'ok',
      '{"a": {"b": {"c": 1}}, "list": [{"x": 1}, {"y": 2}]}' FROM generate_series(1, 30) i`,
    'CREATE TABLE measure (id integer, note text) PARTITION BY RANGE (id)',
    'CREATE TABLE measure_low PARTITION OF measure FOR VALUES FROM (0) TO (10)',
    'CREATE TABLE measure_high PARTITION OF measure FOR VALUES FROM (10) TO (100) PARTITION BY RANGE (id)',
    'CREATE TABLE measure_high_1 PARTITION OF measure_high FOR VALUES FROM (10) TO (50)',
    "INSERT INTO measure SELECT i, 'n' FROM generate_series(1, 20) i",
    'CREATE TABLE parent (id integer, body text)',
    'CREATE TABLE child (extra text) INHERITS (parent)',
    "INSERT INTO parent VALUES (1, 'p')",
    "INSERT INTO child VALUES (2, 'c', 'e')",
    'CREATE VIEW seen AS SELECT contact FROM person',
    'CREATE MATERIALIZED VIEW counted AS SELECT contact, count(*) FROM person GROUP BY 1',
    'CREATE SCHEMA archive',
    'CREATE TABLE archive.person (id integer, "Label" text)',
    "INSERT INTO archive.person VALUES (1, 'x')",
    'CREATE TABLE "Person" (label text, "Label" text)',
    `INSERT INTO "Person" VALUES ('x', 'y')`,
    "SELECT lo_from_bytea(0, 'letter')",
  ],
  query: "UPDATE person SET contact = 'u' || id || '@example.com'",
  items: [
    ...['archive.person.Label', 'archive.person.id', 'pg_catalog.pg_largeobject.data'],
    ...['Person.Label', 'Person.label', 'child.body', 'child.extra', 'child.id', 'measure.id', 'measure.note'],
    ...['parent.body', 'parent.id', 'person.contact', 'person.doc', 'person.doc->a', 'person.doc->a->b'],
    ...['person.doc->list', 'person.doc->list->x', 'person.doc->list->y', 'person.felt', 'person.id', 'person.mood'],
    ...['person.moods', 'person.shout'],
  ].map((name) => (/^(archive|pg_catalog)\./.test(name) ? name : `public.${name}`)),
  changes: [
    {
      sql: ["ALTER TYPE mood ADD VALUE 'great'"],
      opens: ['public.person.felt', 'public.person.mood', 'public.person.moods'],
    },
    { sql: ['CREATE TABLE measure_high_2 PARTITION OF measure_high FOR VALUES FROM (50) TO (100)'], opens: [] },
    { sql: ['CREATE VIEW other AS SELECT * FROM person', 'CREATE MATERIALIZED VIEW m AS SELECT 1 AS v'], opens: [] },
    { sql: ['ALTER TABLE parent ADD COLUMN born date'], opens: ['public.child.born', 'public.parent.born'] },
    { sql: ['ALTER TABLE measure ADD COLUMN born date'], opens: ['public.measure.born'] },
    { sql: ['ALTER TABLE archive.person ADD COLUMN label text'], opens: ['archive.person.label'] },
    { sql: ['ALTER TABLE "Person" ADD COLUMN "LABEL" address'], opens: ['public.Person.LABEL'] },
    {
      sql: ['ALTER TABLE person ADD COLUMN twice integer GENERATED ALWAYS AS (id * 2) STORED'],
      opens: ['public.person.twice'],
    },
    { sql: ['CREATE TABLE alone AS SELECT * FROM seen'], opens: ['public.alone.contact'] },
  ],
};

const MYSQL: Shapes = {
  host: 'mysql',
  schema: [
    `CREATE TABLE person (id integer PRIMARY KEY, contact varchar(80), mood enum('sad','ok'), moods set('sad','ok'), doc json,
      shout varchar(90) AS (upper(contact)) STORED, quiet varchar(90) AS (lower(contact)) VIRTUAL)`,
    ...Array.from(
      { length: 30 },
      (
        _,
        at,
      ) => `INSERT INTO person (id, contact, mood, moods, doc) VALUES (${at}, 'u${at}@real.example.org', 'sad', 'ok,sad',
        '{"a": {"b": {"c": 1}}, "list": [{"x": 1}, {"y": 2}]}')`,
    ),
    `CREATE TABLE measure (id integer, note varchar(9))
      PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10), PARTITION high VALUES LESS THAN (100))`,
    "INSERT INTO measure VALUES (1, 'n'), (50, 'n')",
    'CREATE VIEW seen AS SELECT contact FROM person',
    'CREATE TABLE Person (Label varchar(9))',
    "INSERT INTO Person VALUES ('x')",
  ],
  query: "UPDATE person SET contact = concat('u', id, '@example.com')",
  items: [
    ...['Person.Label', 'measure.id', 'measure.note', 'person.contact', 'person.doc', 'person.doc->a'],
    ...['person.doc->a->b', 'person.doc->list', 'person.doc->list->x', 'person.doc->list->y', 'person.id'],
    ...['person.mood', 'person.moods', 'person.quiet', 'person.shout'],
  ],
  changes: [
    {
      sql: ["ALTER TABLE person MODIFY mood enum('sad','ok','great'), MODIFY moods set('sad','ok','great')"],
      opens: ['person.mood', 'person.moods'],
    },
    { sql: ['ALTER TABLE measure ADD PARTITION (PARTITION rest VALUES LESS THAN MAXVALUE)'], opens: [] },
    { sql: ['CREATE VIEW other AS SELECT * FROM person'], opens: [] },
    { sql: ['ALTER TABLE measure ADD COLUMN born date'], opens: ['measure.born'] },
    { sql: ['ALTER TABLE Person ADD COLUMN Born date'], opens: ['Person.Born'] },
    { sql: ['ALTER TABLE person ADD COLUMN twice integer AS (id * 2) VIRTUAL'], opens: ['person.twice'] },
    { sql: ['CREATE TABLE alone AS SELECT * FROM seen'], opens: ['alone.contact'] },
  ],
};

for (const { host, schema, query, items, changes } of [POSTGRES, MYSQL]) {
  for (const { describe, start } of CONTRACT_HOSTS[host].slice(0, 1)) {
    describe('the ledger of all that stores rows', () => {
      let server: SanitizerServer;
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;
      let context: Context;
      let file: string;

      beforeAll(async () => {
        [server, folder] = await Promise.all([start(), temporaryFolder()]);
        await mkdir(join(folder.path, 'repository'));
        file = join(folder.path, 'repository', 'sanitize.lock.yml');
        await server.createDatabase('source');
        await server.run('source', ...schema);
        const query_file = join(folder.path, 'repository', 'query.sql');
        await writeFile(query_file, `${query};\n`);
        const schemas = host === 'postgres' && { schema_config: { use_default_schema: false } };
        const app = {
          snapshot: { src_url: server.url('source'), dst_url: server.url('copy'), ...schemas },
          sanitize: { dst_url: server.url('clean'), query_file, require_classified: true },
        };
        context = testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app } } });
        await build(context, { target: 'app' });
        await classify(context, { target: 'app' });
      }, 240_000);

      afterAll(async () => {
        await server?.stop();
        await folder?.[Symbol.asyncDispose]();
      });

      const sanitize = async () => applySanitize(context, await planSanitize(context, { target: 'app' }));

      const keepAll = async (names: string[]): Promise<void> => {
        const text = (await readFile(file, 'utf8')).replaceAll(/: open$/gm, ': { kept: reviewed }');
        await writeFile(file, text + names.map((name) => `    ${name}: { kept: reviewed }\n`).join(''));
      };

      it('has each column once, with the fields of types and two levels of documents', async () => {
        const listed = [...(await readFile(file, 'utf8')).matchAll(/^ {4}(\S+):/gm)].map(([, name]) => name);
        expect(listed.toSorted()).toEqual(items.toSorted());
        await keepAll([]);
        await classify(context, { target: 'app' });
        expect((await sanitize()).snapshot.sanitized).toBe(true);
        const text = await readFile(file, 'utf8');
        for (const name of items.filter((_, at) => at % ONE_OF === 2 % ONE_OF)) {
          await writeFile(file, text.replace(`    ${name}:`, '    never.there:'));
          await expect(sanitize(), name).rejects.toMatchObject({
            code: 'unclassified',
            details: [expect.stringMatching(`^${name.replaceAll(/[.$]/g, '\\$&')} `)],
          });
        }
        await writeFile(file, text);
      }, 240_000);

      it('lacks what a change of the schema adds, and nothing else', async () => {
        for (const { sql, opens } of changes) {
          await server.run('source', ...sql);
          const { open } = await checkLedger(context, { target: 'app' });
          expect(
            open.map(({ name }) => name),
            sql.join('; '),
          ).toEqual(opens);
          const added = open.filter(({ why }) => why === 'unclassified').map(({ name }) => name);
          if (added.length < open.length)
            await writeFile(file, (await readFile(file, 'utf8')).replaceAll('[ sad, ok ]', '[ sad, ok, great ]'));
          await keepAll(added);
        }
      }, 240_000);
    });
  }
}
