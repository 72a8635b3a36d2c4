import { beforeAll, expect, it } from 'vitest';
import { listSnapshots } from '../../../../src/operations/snapshots/snapshots.ts';
import { explainSubset } from '../../../../src/operations/subset/explain-subset.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import type { SubsetRequest } from '../../../../src/operations/subset/subset-setting.ts';
import { suggestSubsetSettings } from '../../../../src/operations/subset/suggest-subset.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import type { SubsetResult } from '../../../../src/results/subset-results.ts';
import type { SubsetSettings } from '../../../../src/subset/graph.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FLAVOURS = testedFlavours('mysql');
/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;

/** What makes references hard: keys of every type, in other character sets, none at all, nulls, and what rows carry with them. */
const HARD = [
  `CREATE TABLE account (id BIGINT AUTO_INCREMENT PRIMARY KEY, mail VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL UNIQUE,
    body LONGBLOB, ratio FLOAT, longer INT GENERATED ALWAYS AS (CHAR_LENGTH(mail)) STORED) AUTO_INCREMENT = 900`,
  ...Array.from(
    { length: 20 },
    (_, at) => `INSERT INTO account (id, mail, body, ratio) VALUES
      (${at === 19 ? -5 : at + 1}, 'Üser${at + 1}@x', UNHEX('00090A5C0D27FF${at + 10}'), ${at} / 7)`,
  ),
  `CREATE TABLE letter (mail VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci, body TEXT,
    FOREIGN KEY (mail) REFERENCES account (mail))`,
  "INSERT INTO letter SELECT UPPER(mail), CONCAT('letter ', id) FROM account",
  "INSERT INTO letter SELECT * FROM letter WHERE body = 'letter 3'",
  `CREATE TABLE measure (account_id BIGINT NOT NULL, at DATETIME(3) NOT NULL, tag VARBINARY(16) NOT NULL, price DECIMAL(10,2) NOT NULL,
    follows_at DATETIME(3), PRIMARY KEY (account_id, at, tag, price), KEY (account_id, at), FOREIGN KEY (account_id) REFERENCES account (id))`,
  "INSERT INTO measure SELECT id, '2026-01-01 10:00:00.125', UNHEX('00FF2C'), 1.50, NULL FROM account",
  "INSERT INTO measure SELECT id, '2026-01-02 10:00:00.250', UNHEX('00FF2D'), 2.50, '2026-01-01 10:00:00.125' FROM account",
  `CREATE TABLE reading (measured_id BIGINT NOT NULL, at DATETIME(3) NOT NULL, tag VARBINARY(16) NOT NULL, price DECIMAL(10,2) NOT NULL,
    name VARCHAR(10) CHARACTER SET utf8mb4 PRIMARY KEY,
    FOREIGN KEY (measured_id, at, tag, price) REFERENCES measure (account_id, at, tag, price))`,
  "INSERT INTO reading SELECT account_id, at, tag, price, CONCAT('☃,', account_id) FROM measure WHERE price = 2.50",
  'CREATE TABLE audit (id INT PRIMARY KEY)',
  'INSERT INTO audit VALUES (1)',
  `CREATE TABLE audited (id INT AUTO_INCREMENT PRIMARY KEY, account_id BIGINT, audit_id INT NOT NULL, noted_by INT,
    FOREIGN KEY (account_id) REFERENCES account (id), FOREIGN KEY (audit_id) REFERENCES audit (id), FOREIGN KEY (noted_by) REFERENCES audit (id))`,
  'INSERT INTO audited SELECT id + 10, id, 1, 1 FROM account',
  'CREATE TABLE loose (id INT PRIMARY KEY, account_mail VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)',
  'INSERT INTO loose SELECT id + 10, mail FROM account',
  "INSERT INTO loose VALUES (100, 'nobody')",
  'CREATE TABLE fired (id INT)',
  'CREATE TRIGGER fires AFTER INSERT ON account FOR EACH ROW INSERT INTO fired VALUES (1)',
  'CREATE VIEW mails AS SELECT mail FROM account',
];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a subset' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await server.createDatabase('hard');
      await server.sql('hard', ...HARD);
    }, LIMIT);

    function contextFor(section: SubsetSettings) {
      const subsetSection = { src_url: server.url('hard'), dst_url: server.url('hard_small'), ...section };
      const snapshot = { dst_url: server.url('hard_loaded') };
      return testContext({
        settings: { working_directory: folder.path, targets: { t: { subset: subsetSection, snapshot } } },
      });
    }

    async function make(section: SubsetSettings, request: Partial<SubsetRequest> = {}): Promise<SubsetResult> {
      const context = contextFor(section);
      return applySubset(context, await planSubset(context, { target: 't', cpus: 2, ...request }));
    }

    async function ask(database: string, sql: string): Promise<string> {
      const rows = await server.sql(database, sql);
      return rows.map((row) => Object.values(row).join('|')).join('\n');
    }

    it(
      'is suggested for a target without one, and made by that suggestion',
      async () => {
        await server.sql('hard', 'ANALYZE TABLE account, letter, measure, reading, audit, audited, loose, fired');
        const snapshot = { src_url: server.url('hard'), dst_url: server.url('hard_dev') };
        const context = testContext({ settings: { working_directory: folder.path, targets: { t: { snapshot } } } });
        const { subset_tables, tables } = await suggestSubsetSettings(context, { target: 't', cpus: 2 });
        expect(subset_tables.map(({ table }) => table)).toContain('hard.account');
        const made = await applySubset(context, await planSubset(context, { target: 't', suggest: true, cpus: 2 }));
        expect(made.destination).toContain('/hard_subset');
        expect(made.proof.filter(({ orphans }) => orphans !== 0)).toEqual([]);
        // Equal rows without a key are counted once before the subset is made.
        const copied = tables.flatMap(({ rule, table }) => (rule === 'copy' ? table : []));
        const estimated = new Set(['hard.letter', ...copied]);
        const counted = tables.map(({ table, rows_expected }) => ({ table, rows: rows_expected }));
        const exact = (rows: { table: string; rows: number | null }[]) =>
          rows
            .filter((each) => each.rows !== 0 && !estimated.has(each.table))
            .map(({ table, rows: count }) => `${table} ${count}`);
        expect(exact(made.tables).sort()).toEqual(exact(counted).sort());
      },
      LIMIT,
    );

    const THREE: SubsetSettings = {
      subset_tables: [{ table: 'hard.account', where: "mail = 'üSER3@x' OR id IN (4, -5)" }],
    };

    it(
      'follows references over keys of every type, in other character sets, and carries every value',
      async () => {
        const result = await make(THREE);
        for (const table of ['account', 'measure', 'reading']) {
          const key = table === 'account' ? 'id' : table === 'measure' ? 'account_id' : 'measured_id';
          const rows = `SELECT * FROM ${table} WHERE ${key} IN (3, 4, -5) ORDER BY 1, 2`;
          expect(await server.sql('hard_small', `SELECT * FROM ${table} ORDER BY 1, 2`)).toEqual(
            await server.sql('hard', rows),
          );
        }
        expect(await ask('hard_small', 'SELECT body FROM letter ORDER BY 1')).toBe(
          'letter -5\nletter 3\nletter 3\nletter 4',
        );
        expect(result.rows).toBe(3 + 4 + 6 + 3 + 3 + 1);
        expect(result.proof).toHaveLength(6);
        expect(result.proof.every(({ orphans }) => orphans === 0)).toBe(true);
      },
      LIMIT,
    );

    it(
      'has the whole schema, goes on counting past the highest value, and fired no trigger',
      async () => {
        await make(THREE);
        const shapeOf = async (database: string): Promise<string[]> =>
          (await server.dump(database)).split('\n').filter((line) => !/^(INSERT INTO|\()/.test(line));
        expect(await shapeOf('hard_small')).toEqual(await shapeOf('hard'));
        expect(await ask('hard_small', 'SELECT COUNT(*) FROM fired')).toBe('0');
        await server.sql('hard_small', "INSERT INTO account (mail) VALUES ('new')");
        expect(await ask('hard_small', "SELECT id FROM account WHERE mail = 'new'")).toBe('900');
        expect(await ask('hard_small', 'SELECT COUNT(*) FROM fired')).toBe('1');
      },
      LIMIT,
    );

    it(
      'follows added relationships over character sets, and counts apart the rows that refer to none in the source',
      async () => {
        const added = {
          fk_table: 'hard.loose',
          fk_columns: 'account_mail',
          ref_table: 'hard.account',
          ref_columns: ['mail'],
        };
        const planned = await planSubset(contextFor({ ...THREE, added_relationships: [added] }), { target: 't' });
        expect(planned.plan.warnings.map(({ message }) => message).join('\n')).toContain(
          'CREATE INDEX `loose_account_mail` ON `loose` (`account_mail`);',
        );
        await make({ ...THREE, added_relationships: [added] });
        expect(await ask('hard_small', 'SELECT id FROM loose ORDER BY id')).toBe('5\n13\n14');
        const whole = await make({ copy_tables: ['hard.loose'], added_relationships: [added] });
        expect(await ask('hard_small', 'SELECT COUNT(*) FROM account')).toBe('20');
        expect(whole.proof.find((row) => row.added)).toMatchObject({ orphans: 1, orphans_in_source: 1 });
      },
      LIMIT,
    );

    it(
      'makes nullable references to excluded tables null, and refuses those that may not be',
      async () => {
        const relationship = { fk_table: 'hard.audited', ref_table: 'hard.account' };
        await make({ copy_tables: ['hard.audited'], excluded_relationships: [relationship] });
        expect(await ask('hard_small', 'SELECT COUNT(*), COUNT(account_id), COUNT(noted_by) FROM audited')).toBe(
          '20|0|20',
        );
        const before = await server.databases();
        await expect(make({ ...THREE, excluded_tables: ['hard.audit'] })).rejects.toMatchObject({
          code: 'subset_impossible',
        });
        expect(await server.databases()).toEqual(before);
      },
      LIMIT,
    );

    it(
      'takes the same share each time, exactly, another with another seed, and none of a table without a key',
      async () => {
        const share = async (seed: number): Promise<string> => {
          await make({ subset_tables: [{ table: 'hard.account', percent: 21 }] }, { seed });
          return ask('hard_small', 'SELECT id FROM account ORDER BY id');
        };
        const first = await share(1);
        expect(first.split('\n')).toHaveLength(5);
        expect(await share(1)).toBe(first);
        expect(await share(2)).not.toBe(first);
        await expect(
          planSubset(contextFor({ subset_tables: [{ table: 'hard.letter', percent: 5 }] }), {
            target: 't',
            count: true,
          }),
        ).rejects.toMatchObject({ code: 'subset_invalid', exit: 3 });
      },
      LIMIT,
    );

    it.each([["mail = 'O'Brien'"], ['no_such_column = 1'], ['id = 1; DROP TABLE account']])(
      'refuses the condition %s with the words of the server',
      async (where) => {
        const context = contextFor({ subset_tables: [{ table: 'hard.account', where }] });
        await expect(planSubset(context, { target: 't', count: true })).rejects.toMatchObject({
          code: 'subset_invalid',
          exit: 3,
        });
      },
      LIMIT,
    );

    it(
      'explains why a row is included by the chain of references to a requested row',
      async () => {
        const explained = async (row: string) => (await explainSubset(contextFor(THREE), { target: 't', row })).chain;
        expect(await explained('hard.audit:1')).toMatchObject([
          { table: 'hard.audit', key: '1', why: expect.stringMatching(/^is referred to by/) },
          { table: 'hard.audited', why: expect.stringMatching(/^refers by account_id/) },
          { table: 'hard.account', why: "where mail = 'üSER3@x' OR id IN (4, -5)" },
        ]);
        expect(await explained('hard.account:7')).toBeNull();
        await expect(explained('hard.account:700')).rejects.toMatchObject({ code: 'row_unknown', exit: 2 });
      },
      LIMIT,
    );

    it(
      'is made and explained for a user who may only read, and not even lock, by one worker',
      async () => {
        const user = { name: 'reader', password: 'secret' };
        await server.sql(
          '',
          "CREATE USER reader@'%' IDENTIFIED BY 'secret'",
          "GRANT SELECT, SHOW VIEW, TRIGGER ON hard.* TO reader@'%'",
        );
        const section = { ...THREE, copy_tables: ['hard.loose'], src_url: server.url('hard', user) };
        const events: RunEvent[] = [];
        const context = { ...contextFor(section), report: (event: RunEvent) => void events.push(event) };
        const result = await applySubset(context, await planSubset(context, { target: 't', cpus: 2 }));
        expect(result.rows).toBe(20 + 21);
        expect(events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'lock_refused' }));
        const { chain } = await explainSubset(context, {
          target: 't',
          row: 'hard.measure:4,2026-01-02 10:00:00.250,00FF2D,2.50',
        });
        expect(chain).toMatchObject([{ table: 'hard.measure' }, { table: 'hard.account', key: '4' }]);
      },
      LIMIT,
    );

    it(
      'is refused before anything is touched where no database can be made beside the destination',
      async () => {
        await make(THREE);
        const user = { name: 'filler', password: 'secret' };
        await server.sql(
          '',
          "CREATE USER filler@'%' IDENTIFIED BY 'secret'",
          "GRANT ALL ON `hard\\_small`.* TO filler@'%'",
        );
        const before = { databases: await server.databases(), rows: await server.dump('hard_small') };
        const making = make({ ...THREE, dst_url: server.url('hard_small', user) });
        await expect(making).rejects.toMatchObject({ code: 'may_not_create', exit: 1 });
        expect({ databases: await server.databases(), rows: await server.dump('hard_small') }).toEqual(before);
      },
      LIMIT,
    );

    it(
      'leaves the destination unchanged, and no other database, when it is cancelled',
      async () => {
        await make(THREE);
        const before = { databases: await server.databases(), rows: await server.dump('hard_small') };
        for (const step of ['read', 'copy', 'index', 'prove']) {
          const cancel = new AbortController();
          const context = { ...contextFor(THREE), signal: cancel.signal };
          const planned = await planSubset(context, { target: 't' });
          const report: typeof context.report = (event) => {
            if (event.event === 'step' && event.step === step) cancel.abort(new Error('enough'));
          };
          await expect(applySubset({ ...context, report }, planned)).rejects.toThrow('enough');
          expect({ databases: await server.databases(), rows: await server.dump('hard_small') }).toEqual(before);
        }
      },
      LIMIT,
    );

    it(
      'is stored as a snapshot, and refuses the source as its destination',
      async () => {
        const result = await make(THREE, { snapshot: true });
        const { snapshots } = await listSnapshots(contextFor({}), 't');
        expect(snapshots[0]).toMatchObject({ id: result.snapshot?.id, note: 'subset', rows: result.rows });
        const dst_url = server.url('hard').replace('127.0.0.1', 'localhost');
        await expect(planSubset(contextFor({ ...THREE, dst_url }), { target: 't' })).rejects.toMatchObject({
          code: 'destination_is_source',
        });
      },
      LIMIT,
    );
  });
}
