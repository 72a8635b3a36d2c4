import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applySanitize, planSanitize, type SanitizeRequest } from '../../../src/operations/sanitize/sanitize.ts';
import type { SanitizeResult } from '../../../src/results/review/sanitize-results.ts';
import { startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const PEOPLE = 200;
const FIRST = ['Anna', 'Boris', 'Claire', 'Dmitri', 'Elena', 'Fatima', 'Georgia', 'Hannes', 'Irene', 'Jordan'];

const people = Array.from({ length: PEOPLE }, (_, id) => {
  const first = FIRST[id % FIRST.length];
  return `(${id}, '${first}', '${first} Quastenhuber${'abcdefghij'[id % 10]}${'klmnopqrst'[Math.floor(id / 10) % 10]}', 'person-${id}@mail.example.org', '+49 30 ${1_000_000 + id * 7919}', '${id} Lindenallee, Berlin')`;
});

const TABLES = [
  'CREATE TABLE person (id integer PRIMARY KEY, first_name varchar(40), full_name varchar(80), email varchar(80), phone varchar(40), street varchar(80))',
  `INSERT INTO person VALUES ${people.join(', ')}`,
  'CREATE TABLE country (id integer PRIMARY KEY, label varchar(40))',
  `INSERT INTO country VALUES (1, 'Jordan'), (2, 'Georgia'), (3, 'France'), (4, 'Peru'), (5, 'Chad'), (6, 'Mali'), (7, 'Togo')`,
  'CREATE TABLE history (id integer, old_email varchar(80), old_name varchar(80), old_street varchar(80))',
  `CREATE TABLE past_names (id integer, family_name varchar(80))`,
  `INSERT INTO past_names SELECT id, concat('Vorzeit', substr(full_name, -2)) FROM person`,
  'CREATE TABLE spare (id integer, backup varchar(200), payload varchar(400))',
  'INSERT INTO spare VALUES (1, NULL, NULL), (2, NULL, NULL)',
  'CREATE TABLE nobody (id integer, email varchar(80))',
];

const MASK = `UPDATE person SET email = concat('p', id, '@example.com'), first_name = 'X', full_name = concat('Person ', id), phone = NULL, street = '';
DELETE FROM past_names`;

interface Dialect {
  trigger: string[];
  copied: string;
  moved: string;
}

const DIALECTS: Record<'postgres' | 'mariadb', Dialect> = {
  postgres: {
    trigger: [
      `CREATE FUNCTION note_old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO history VALUES (OLD.id, OLD.email, OLD.full_name, OLD.street); RETURN NEW; END $$`,
      'CREATE TRIGGER audit AFTER UPDATE ON person FOR EACH ROW EXECUTE FUNCTION note_old()',
    ],
    copied: 'CREATE TABLE copy_of AS SELECT id, email AS a FROM person',
    moved: `UPDATE spare SET payload = (SELECT json_build_object('old', json_build_object('mail', email, 'who', full_name))::text FROM person WHERE person.id = spare.id)`,
  },
  mariadb: {
    trigger: [
      'CREATE TRIGGER audit AFTER UPDATE ON person FOR EACH ROW INSERT INTO history VALUES (OLD.id, OLD.email, OLD.full_name, OLD.street)',
    ],
    copied: 'CREATE TABLE copy_of AS SELECT id, email AS a FROM person',
    moved: `UPDATE spare SET payload = (SELECT JSON_OBJECT('old', JSON_OBJECT('mail', email, 'who', full_name)) FROM person WHERE person.id = spare.id)`,
  },
};

for (const kind of ['postgres', 'mariadb'] as const) {
  describeWithKind(kind, `original values in a sanitized snapshot of ${kind}`, () => {
    const dialect = DIALECTS[kind];
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startAnyServer(kind));
    let runs = 0;

    interface Case {
      query: string;
      also?: string[];
      request?: Partial<SanitizeRequest>;
      built?: { note?: string };
    }

    async function sanitize({ query, also = [], request = {}, built = {} }: Case): Promise<SanitizeResult> {
      runs += 1;
      const source = `shop_${runs}`;
      await server.create(source);
      await server.run(source, [...TABLES, ...also]);
      const prefix = server.prefix(source);
      const target = {
        snapshot: { src_url: server.url(source) },
        sanitize: { dst_url: server.url(`${source}_clean`), override_query: query.replaceAll('SCHEMA', prefix) },
      };
      const context = testContext({
        settings: { working_directory: join(folder.path, source), targets: { app: target } },
      });
      await build(context, { target: 'app', cpus: 1, ...built });
      return applySanitize(context, await planSanitize(context, { target: 'app', cpus: 2, ...request }));
    }

    function found({
      coverage,
    }: SanitizeResult): Record<string, { state: string; count: number | null; from: string[] }> {
      return Object.fromEntries(
        coverage.findings.map(({ column, state, original_values, from }) => [
          column.split('.').slice(1).join('.'),
          { state, count: original_values, from: from.map((name) => name.split('.').slice(1).join('.')) },
        ]),
      );
    }

    const strict = { strict: true };
    const LIMIT = 120_000;

    it('stop --strict when an audit trigger has filled a history table', { timeout: LIMIT }, async () => {
      const { trigger } = dialect;
      await expect(sanitize({ query: MASK, also: trigger, request: strict })).rejects.toMatchObject({
        code: 'personal_data_left',
        exit: 5,
        details: expect.arrayContaining([expect.stringMatching(/history\.old_email .*200 .*person\.email/)]),
      });
      const result = await sanitize({ query: MASK, also: trigger });
      expect(found(result)).toMatchObject({
        'history.old_email': { state: 'leaked', count: PEOPLE, from: ['person.email'] },
        'history.old_name': { state: 'leaked', count: PEOPLE },
        'history.old_street': { state: 'leaked', count: PEOPLE },
      });
      expect(result.coverage.tables).toContainEqual(
        expect.objectContaining({ name: expect.stringMatching(/\.history$/), state: 'changed', indirect: true }),
      );
      expect(JSON.stringify(result)).not.toMatch(/person-\d+@mail/);
    });

    it('stop --strict in the note of the original, which the sanitized snapshot repeats', {
      timeout: LIMIT,
    }, async () => {
      const built = { note: 'before the call of person-7@mail.example.org' };
      const { coverage } = await sanitize({ query: MASK, built: { note: 'before the call' } });
      expect(coverage.findings).toEqual([]);
      const error = await sanitize({ query: MASK, request: strict, built }).catch((thrown) => thrown);
      expect(error.details.join('\n')).toContain('snapshot.(note)');
    });

    it('stop --strict in a copied table, a column for backups and a document', { timeout: LIMIT }, async () => {
      const copies = [
        dialect.copied,
        'UPDATE spare SET backup = (SELECT email FROM person WHERE person.id = spare.id)',
      ];
      for (const statement of copies) {
        await expect(sanitize({ query: `${statement}; ${MASK}`, request: strict }), statement).rejects.toMatchObject({
          code: 'personal_data_left',
        });
      }
      const result = await sanitize({ query: [...copies, dialect.moved, MASK].join('; ') });
      expect(found(result)).toMatchObject({
        'copy_of.a': { state: 'leaked', count: PEOPLE, from: ['person.email'] },
        'spare.backup': { state: 'leaked', count: 2 },
        'spare.payload': { state: 'leaked', count: 2 },
      });
    });

    it('are found in a history table that the query only adds rows to', { timeout: LIMIT }, async () => {
      const query = `${MASK.replace('DELETE FROM past_names', '')} INSERT INTO past_names VALUES (1000, 'Neu')`;
      expect(found(await sanitize({ query }))).toEqual({
        'past_names.family_name': expect.objectContaining({ state: 'partly', count: PEOPLE }),
      });
    });

    it('do not stop --strict when only common words remain, or a comment keeps them', { timeout: LIMIT }, async () => {
      const { coverage } = await sanitize({ query: MASK, request: strict });
      expect(coverage.findings).toEqual([]);
      const keep = `-- keep: SCHEMA.copy_of.a for a test\n${dialect.copied};\n${MASK}`;
      const kept = await sanitize({ query: keep, request: strict });
      expect(kept.coverage.acknowledged).toEqual([
        expect.objectContaining({ column: expect.stringMatching(/\.copy_of\.a$/), reason: 'for a test' }),
      ]);
    });

    it('count as unchanged when only their case changes; columns without values are not changed', {
      timeout: LIMIT,
    }, async () => {
      const query = `${MASK.replace("email = concat('p', id, '@example.com')", "email = concat(upper(email), ' ')")}`;
      const result = await sanitize({ query });
      expect(found(result)).toMatchObject({ 'person.email': { state: 'unchanged', count: PEOPLE } });
      expect(result.coverage.changed.map(({ column }) => column.split('.').slice(1).join('.'))).not.toContain(
        'nobody.email',
      );
    });

    if (kind === 'postgres') {
      it('include those of partitions, which count for their table', {
        timeout: LIMIT,
      }, async () => {
        const also = [
          'CREATE TABLE visitor (id integer, email varchar(80)) PARTITION BY RANGE (id)',
          'CREATE TABLE visitor_1 PARTITION OF visitor FOR VALUES FROM (0) TO (1000)',
          "INSERT INTO visitor SELECT id, 'visitor-' || id || '@mail.example.org' FROM person",
        ];
        const query = `CREATE TABLE seen AS SELECT email AS who FROM visitor WHERE id < 50;
          UPDATE visitor SET email = 'v' || id || '@example.com' WHERE id > 100;
          ${MASK}`;
        const columns = found(await sanitize({ query, also }));
        expect(columns).toMatchObject({ 'seen.who': { state: 'leaked', from: ['visitor.email'] } });
        expect(Object.keys(columns).filter((name) => name.startsWith('visitor'))).toEqual(['visitor.email']);
      });

      it('are found in large objects, binary columns and definitions', { timeout: LIMIT }, async () => {
        const query = `
          SELECT lo_from_bytea(0, convert_to('letter to ' || email, 'UTF8')) FROM person WHERE id = 7;
          CREATE TYPE part AS (id integer, raw bytea);
          CREATE TABLE blobs (id integer, raw bytea, mails text[], raws bytea[], parts part[], calls text);
          INSERT INTO blobs SELECT id, convert_to(email, 'UTF8'), ARRAY['x', upper(email)], ARRAY[convert_to(email, 'UTF8')],
            ARRAY[ROW(id, convert_to(email, 'UTF8'))::part], replace(phone, ' ', '') || ' called' FROM person WHERE id < 5;
          COMMENT ON TABLE country IS 'ask person-3@mail.example.org';
          ALTER TABLE country ADD COLUMN contact text DEFAULT 'person-4@mail.example.org';
          CREATE TABLE split (who text) PARTITION BY RANGE (who);
          CREATE TABLE split_1 PARTITION OF split FOR VALUES FROM ('person-5@mail.example.org') TO ('z');
          CREATE FUNCTION boss() RETURNS text LANGUAGE sql AS $$ SELECT 'person-6@mail.example.org'::text $$;
          ${MASK}`;
        const columns = found(await sanitize({ query }));
        expect(columns).toMatchObject({
          'pg_largeobject.data': { state: 'leaked', count: 1 },
          'blobs.raw': { state: 'leaked', count: 5 },
          'blobs.mails': { state: 'leaked', count: 5 },
          'blobs.raws': { state: 'leaked', count: 5 },
          'blobs.parts': { state: 'leaked', count: 5 },
          'blobs.calls': { state: 'leaked', count: 5 },
          'country.contact': { state: 'leaked', count: 7 },
        });
        const definitions = Object.keys(columns)
          .filter((name) => name.includes('('))
          .join('\n');
        for (const part of ['TABLE country.(comment)', 'country.(table)', 'split_1', 'boss']) {
          expect(definitions).toContain(part);
        }
      });

      it('tables that are only read in another order are untouched', { timeout: LIMIT }, async () => {
        const { coverage } = await sanitize({ query: `UPDATE country SET label = label WHERE id < 4; ${MASK}` });
        expect(coverage.tables).toContainEqual({
          ...{ name: 'public.country', state: 'untouched', indirect: false },
          ...{ rows_before: 7, rows_after: 7 },
        });
      });
    } else {
      it('are found in binary columns and definitions', { timeout: LIMIT }, async () => {
        const query = `
          CREATE TABLE blobs (id integer, raw blob, latin varchar(80) CHARACTER SET latin1);
          INSERT INTO blobs SELECT id, email, full_name FROM person WHERE id < 5;
          ALTER TABLE country COMMENT = 'ask person-3@mail.example.org';
          CREATE VIEW boss AS SELECT 'person-6@mail.example.org' AS who;
          ${MASK}`;
        const columns = found(await sanitize({ query }));
        expect(columns).toMatchObject({ 'blobs.raw': { count: 5 }, 'blobs.latin': { count: 5 } });
        const definitions = Object.keys(columns)
          .filter((name) => name.includes('('))
          .join('\n');
        for (const part of ['country.(table)', 'boss.(view)']) expect(definitions).toContain(part);
      });
    }
  });
}
