import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { suggest } from '../../../../src/operations/sanitize/suggest.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

const NUMBERS =
  '(WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n) numbers';
const FILL = [
  `CREATE TABLE \`Account Holder\` (
    id int AUTO_INCREMENT PRIMARY KEY, email varchar(40) NOT NULL UNIQUE, phone varchar(20), iban char(22), birth_date date,
    last_ip varchar(45), credit_card varchar(19), api_key varchar(64), salary decimal(9,2) NOT NULL, preferences json,
    latitude decimal(9,6), full_name varchar(60) AS (concat(email, '!')), photo blob,
    updated_at timestamp DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)`,
  `INSERT INTO \`Account Holder\` (email, phone, iban, birth_date, last_ip, credit_card, api_key, salary, preferences, latitude, photo, updated_at)
    SELECT concat('Someone', i, '@Real.example'), concat('+49 30 ', 1000 + i), concat('DE89370400440532', 100000 + i), '1980-01-01' + INTERVAL i DAY,
      concat('192.0.2.', i % 250), '4111 1111 1111 1111', concat('sk_live_', sha2(i, 224)), 5000 + i, '{"mail": "a@b.example"}',
      52.520008, 'x', '2020-01-01 00:00:00' FROM ${NUMBERS}`,
  `CREATE TABLE booking (id int PRIMARY KEY, booked_by varchar(40), CONSTRAINT by_whom FOREIGN KEY (booked_by)
    REFERENCES \`Account Holder\` (email) ON UPDATE RESTRICT)`,
  `INSERT INTO booking SELECT i, concat('someone', i, '@real.example') FROM ${NUMBERS}`,
  'CREATE TABLE change_log (old_row varchar(100))',
  `CREATE TRIGGER logged AFTER UPDATE ON booking FOR EACH ROW BEGIN
    SET @count = 1; INSERT INTO change_log VALUES (OLD.booked_by); END`,
];

const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a suggested query' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startMysql(flavour), temporaryFolder()]);
      await server.createDatabase('source');
      await server.sql('source', ...FILL);
    }, 120_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextOf(query?: string): Context {
      const target = {
        snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
        sanitize: { dst_url: server.url('clean'), ...(query !== undefined && { override_query: query }) },
      };
      return testContext({ settings: { working_directory: folder.path, targets: { app: target } } });
    }

    it('leaves nothing that looks personal, formats kept, foreign keys whole, triggers and clocks silent', async () => {
      await build(contextOf(), { target: 'app' });
      const { query, findings } = await suggest(contextOf(), { target: 'app' });
      expect(findings.length).toBeGreaterThan(9);
      expect(findings.filter(({ generated }) => generated).map(({ column }) => column)).toEqual([
        'source.Account Holder.full_name',
      ]);
      const context = contextOf(`-- keep: source.\`Account Holder\`.full_name made of the e-mail\n${query}`);
      const { coverage } = await applySanitize(context, await planSanitize(context, { target: 'app', strict: true }));
      expect(coverage.findings).toEqual([]);
      const value = async (sql: string): Promise<string> =>
        String(Object.values((await server.sql('clean', sql))[0] ?? {})[0]);
      expect(await value('SELECT count(*) FROM booking JOIN `Account Holder` ON email = booked_by')).toBe('300');
      expect(
        await value("SELECT count(DISTINCT email) FROM `Account Holder` WHERE email LIKE 'user-%@example.com'"),
      ).toBe('300');
      expect(await value("SELECT count(*) FROM `Account Holder` WHERE phone LIKE '+49 __ ____'")).toBe('300');
      expect(await value("SELECT count(*) FROM `Account Holder` WHERE iban REGEXP '^DE[0-9]{20}$'")).toBe('300');
      expect(await value("SELECT count(*) FROM `Account Holder` WHERE updated_at = '2020-01-01 00:00:00'")).toBe('300');
      for (const column of ['phone', 'iban', 'birth_date', 'credit_card'])
        expect(
          await value(
            `SELECT count(*) FROM source.\`Account Holder\` old JOIN \`Account Holder\` new USING (id) WHERE old.${column} = new.${column}`,
          ),
          `old values of ${column}`,
        ).toBe('0');
      expect(await value('SELECT count(DISTINCT year(birth_date)) FROM `Account Holder`')).toBe('1');
      expect(await value('SELECT count(*) FROM change_log')).toBe('0');
      const left = "SELECT count(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'clean'";
      expect(await value(left)).toBe('0');
      await server.sql('clean', 'UPDATE booking SET booked_by = NULL WHERE id = 1');
      expect(await value('SELECT count(*) FROM change_log'), 'the trigger is there again').toBe('1');
      await expect(server.sql('clean', "UPDATE booking SET booked_by = 'nobody' WHERE id = 1")).rejects.toThrow(
        'by_whom',
      );
    }, 120_000);

    it('a query that names the original database is refused before anything is run', async () => {
      const context = contextOf('UPDATE booking SET booked_by = NULL; UPDATE source.booking SET booked_by = NULL');
      const sanitizing = applySanitize(context, await planSanitize(context, { target: 'app' }));
      await expect(sanitizing).rejects.toMatchObject({
        code: 'query_refused',
        message: expect.stringContaining('names the database "source" in statement 2 (line 1)'),
      });
      const [row] = await server.sql<{ count: number }>('source', 'SELECT count(booked_by) AS count FROM booking');
      expect(row?.count).toBe(300);
    }, 60_000);
  });
}
