import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { AfterLoadStep } from '../../../src/config/schema/after-load.ts';
import { isRunning } from '../../../src/process/is-running.ts';
import type { LoadPlan, LoadResult } from '../../../src/results/load-results.ts';
import { type AnyServer, startAnyServer, testedKinds } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { itIf } from '../../helpers/it-if.ts';
import { eventually, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../../helpers/storage/leftovers.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';

const POSTGRES = {
  fill: [
    'CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL)',
    "INSERT INTO person SELECT i, 'person ' || i FROM generate_series(1, 500) i",
    'CREATE VIEW names AS SELECT name FROM person',
    'CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql AS $$ SELECT 2 * n $$',
  ],
  migration: [
    'ALTER TABLE person ADD COLUMN boss integer REFERENCES person',
    'CREATE TABLE pet (id integer PRIMARY KEY, owner integer NOT NULL REFERENCES person)',
    'INSERT INTO pet SELECT id, id FROM person WHERE id <= 7',
    'CREATE OR REPLACE VIEW names AS SELECT upper(name) AS name FROM person',
    'CREATE FUNCTION thrice(n integer) RETURNS integer LANGUAGE sql AS $$ SELECT 3 * n $$',
    "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := 'new'; RETURN NEW; END $$",
    'CREATE TRIGGER noted BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION note()',
  ],
  client: 'psql --no-psqlrc --quiet --tuples-only --no-align --dbname "$DATABASE_URL" --command',
  byVariables: 'psql --no-psqlrc --tuples-only --no-align --command "SELECT current_database()"',
};

const MYSQL = {
  fill: [
    'CREATE TABLE numbers (n INT PRIMARY KEY)',
    'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
    'CREATE TABLE person (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)',
    "INSERT INTO person SELECT 1 + a.n + 10 * b.n + 100 * c.n, CONCAT('person ', a.n) FROM numbers a, numbers b, numbers c WHERE c.n < 5",
    'CREATE VIEW names AS SELECT name FROM person',
    'CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
    'CREATE TRIGGER kept BEFORE UPDATE ON person FOR EACH ROW SET NEW.name = UPPER(NEW.name)',
    'CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DO DELETE FROM person WHERE id < 0',
  ],
  migration: [
    'ALTER TABLE person ADD COLUMN boss INT, ADD FOREIGN KEY (boss) REFERENCES person (id)',
    'CREATE TABLE pet (id INT PRIMARY KEY, owner INT NOT NULL, FOREIGN KEY (owner) REFERENCES person (id))',
    'INSERT INTO pet SELECT id, id FROM person WHERE id <= 7',
    'CREATE OR REPLACE VIEW names AS SELECT UPPER(name) AS name FROM person',
    'CREATE FUNCTION thrice(n INT) RETURNS INT DETERMINISTIC RETURN 3 * n',
    "CREATE TRIGGER noted BEFORE INSERT ON person FOR EACH ROW SET NEW.name = 'new'",
    'CREATE EVENT hourly ON SCHEDULE EVERY 1 HOUR DO DELETE FROM pet WHERE id < 0',
    'DROP TABLE numbers',
  ],
  client: 'mysql --protocol=tcp --user="$MYSQL_USER" --skip-column-names --batch "$MYSQL_DATABASE" --execute',
  byVariables:
    'mysql --protocol=tcp --user="$MYSQL_USER" --batch --skip-column-names "$MYSQL_DATABASE" --execute "SELECT DATABASE()"',
};

for (const kind of testedKinds('mysql')) {
  // Processes of steps end in the same way for each kind of server.
  const endsSteps = kind === 'postgres' || process.env.TEST_FULL === '1';
  const { fill, migration, client, byVariables } = kind === 'postgres' ? POSTGRES : MYSQL;
  describeWithKind(kind, 'a load with steps after it', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let tool: Tool;

    const step = (given: Partial<AfterLoadStep>): AfterLoadStep => ({ timeout: 1800, ...given });

    async function configure(after_load: AfterLoadStep[], further: { keep_base?: boolean } = {}): Promise<void> {
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot: { src_url, dst_url, after_load, ...further } } },
      });
    }

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await mkdir(join(folder.path, 'work'));
      await writeFile(join(folder.path, 'migration.sql'), `${migration.join(';\n')};\n`);
      await server.create('source');
      await server.run('source', fill);
      await configure([]);
      await tool.done(['build', 'app']);
    }, 240_000);

    beforeEach(async () => {
      await configure([]);
      await tool.done(['load', 'app']);
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    async function loaded(words: string[] = []): Promise<LoadResult> {
      const { code, output } = await tool.start(['load', 'app', ...words]).ended;
      expect(code, output.slice(-3000)).toBe(0);
      return JSON.parse(output.trim().split('\n').at(-1) ?? '');
    }

    async function failed(
      words: string[] = [],
    ): Promise<{ code: number | null; error: Record<string, string> & { details: string[] }; output: string }> {
      const { code, output } = await tool.start(['load', 'app', ...words]).ended;
      return { code, output, error: JSON.parse(output.trim().split('\n').at(-1) ?? '') };
    }

    async function expectNothingLeft(): Promise<void> {
      expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
      expect(await stagingLeftovers(join(folder.path, 'work'))).toEqual([]);
    }

    const says = (path: string) => readFile(join(folder.path, path), 'utf8');

    it('runs commands and SQL files in the new database, and swaps what they made of it', async () => {
      await configure([
        step({ query_file: './migration.sql' }),
        step({ command: `${client} "UPDATE person SET boss = 1 WHERE id = 2"` }),
        step({ command: ['sh', '-c', `pwd > where; printenv DATABASE_URL > url; ${byVariables} > database`] }),
      ]);
      const dry = await tool.start(['load', 'app', '--dry-run']).ended;
      const { plan }: { plan: LoadPlan } = JSON.parse(dry.output.trim().split('\n').at(-1) ?? '');
      expect(plan.after_load).toHaveLength(3);
      expect(plan.steps.filter((line) => line.includes('after_load'))).toEqual([
        `Run step 1 of 3 of after_load: ${join(folder.path, 'migration.sql')}`,
        expect.stringContaining('Run step 2 of 3'),
        expect.stringContaining('Run step 3 of 3'),
      ]);
      expect(await loaded()).toMatchObject({ after_load: plan.after_load });
      expect((await says('where')).trim()).toBe(folder.path);
      const database = (await says('database')).trim();
      expect(database).toMatch(/^copy\.tool-new-/);
      expect(await says('url')).toContain(`/${encodeURIComponent(database)}`);
      expect(await server.column('copy', 'SELECT COUNT(*) FROM pet')).toEqual(['7']);
      expect(await server.column('copy', 'SELECT boss FROM person WHERE id = 2')).toEqual(['1']);
      expect(await server.column('copy', 'SELECT thrice(twice(2))')).toEqual(['12']);
      expect(await server.column('copy', 'SELECT name FROM names ORDER BY 1 LIMIT 1')).toEqual([
        kind === 'postgres' ? 'PERSON 1' : 'PERSON 0',
      ]);
      await server.run('copy', ["INSERT INTO person (id, name) VALUES (1000, 'x')"]);
      expect(await server.column('copy', 'SELECT name FROM person WHERE id = 1000')).toEqual(['new']);
      if (kind !== 'postgres') {
        const events =
          'SELECT CONCAT(EVENT_NAME, 0x20, STATUS) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY 1';
        expect(await server.column('copy', events)).toEqual(['daily DISABLED', 'hourly DISABLED']);
        await server.run('copy', ["UPDATE person SET name = 'lower' WHERE id = 3"]);
        expect(await server.column('copy', 'SELECT name FROM person WHERE id = 3')).toEqual(['LOWER']);
        expect(await server.column('copy', 'SHOW TABLES')).not.toContain('numbers');
      }
      await expectNothingLeft();
    }, 120_000);

    it('leaves the destination when a step fails, and shows the end of its output without the password', async () => {
      const before = await server.content('copy');
      const password = new URL(server.url('copy')).password;
      await configure([
        step({ query_file: './migration.sql' }),
        step({ command: 'i=1; while [ $i -le 30 ]; do echo "line $i"; i=$((i + 1)); done; printenv >&2; exit 3' }),
      ]);
      const { code, error, output } = await failed();
      expect(code).toBe(1);
      expect(error).toMatchObject({ code: 'after_load_failed' });
      expect(error.message).toContain('Step 2 of 2 of after_load failed with exit code 3');
      expect(error.details).toHaveLength(21);
      expect(error.hint).toContain('--no-after-load');
      if (password !== '') expect(output).not.toContain(decodeURIComponent(password));
      expect(await server.content('copy')).toBe(before);
      await configure([step({ query_file: './wrong.sql' })]);
      await writeFile(join(folder.path, 'wrong.sql'), 'SELECT * FROM nothing_of_that_name;\n');
      const wrong = await failed();
      expect(wrong.error).toMatchObject({ code: 'after_load_failed' });
      expect(wrong.error.details.join('\n')).toContain('nothing_of_that_name');
      expect(await server.content('copy')).toBe(before);
      await expectNothingLeft();
    }, 120_000);

    it('runs none of them with --no-after-load', async () => {
      await configure([step({ command: 'touch ran; exit 1' })]);
      expect(await loaded(['--no-after-load'])).not.toHaveProperty('after_load');
      await expect(says('ran')).rejects.toThrow('ENOENT');
    }, 60_000);

    itIf(endsSteps)(
      'ends a step that takes too long with the processes that it started',
      async () => {
        const before = await server.content('copy');
        await configure([
          step({ command: "trap '' TERM; sleep 600 & echo $! > child; sleep 600; sleep 600", timeout: 1 }),
        ]);
        const { code, error } = await failed();
        expect([code, error.code]).toEqual([1, 'after_load_failed']);
        await eventually(async () => !isRunning(Number(await says('child'))));
        expect(await server.content('copy')).toBe(before);
        await expectNothingLeft();
      },
      60_000,
    );

    it('ends a query that a step has left running, and names it', async () => {
      const active = 'SELECT 1 FROM';
      const [hold, seen] =
        kind === 'postgres'
          ? [
              'BEGIN; LOCK TABLE person; SELECT pg_sleep(600)',
              "pg_stat_activity WHERE query LIKE '%pg_sleep(600%' AND wait_event = 'PgSleep'",
            ]
          : [
              'LOCK TABLES person WRITE; SELECT SLEEP(600)',
              "information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(600%'",
            ];
      await configure([
        step({
          command: `setsid ${client} "${hold}" >/dev/null 2>&1 </dev/null &
            until ${client} "${active} ${seen}" | grep -q .; do :; done`,
        }),
      ]);
      const { code, output } = await tool.start(['load', 'app']).ended;
      expect(code, output.slice(-3000)).toBe(0);
      expect(output).toMatch(
        /"code":"sessions_ended","message":"Ended sessions that the steps of after_load left: [^"]*sleep\(600\)/i,
      );
      await expectNothingLeft();
    }, 60_000);

    itIf(endsSteps).each(['SIGKILL', 'SIGINT'] as const)(
      'leaves the destination and ends the step when %s ends the load',
      async (signal) => {
        const before = await server.content('copy');
        await configure([
          step({ query_file: './migration.sql' }),
          step({
            command: `sleep 600 & echo $! > child; ${client} "DELETE FROM pet" && touch ready-${signal}; sleep 600`,
          }),
        ]);
        const run = tool.start(['load', 'app']);
        await Promise.race([
          run.ended,
          eventually(
            () =>
              says(`ready-${signal}`).then(
                () => true,
                () => false,
              ),
            { deadline: 60_000 },
          ),
        ]);
        const child = Number(await says('child'));
        expect(isRunning(child)).toBe(true);
        process.kill(run.child.pid ?? 0, signal);
        const end = await run.ended;
        expect(signal === 'SIGINT' ? end.code : end.signal).toBe(signal === 'SIGINT' ? 130 : 'SIGKILL');
        await eventually(async () => !isRunning(child));
        expect(await server.content('copy')).toBe(before);
        await configure([]);
        await tool.done(['load', 'app']);
        expect(await server.content('copy')).toBe(before);
        await expectNothingLeft();
      },
      120_000,
    );

    it('makes base copy, reset and branches with the effect of the steps', async () => {
      await configure([step({ query_file: './migration.sql' })]);
      const { base_database } = await loaded(['--keep-base']);
      expect(base_database).toBe('copy.tool-base');
      await server.run('copy', ['DELETE FROM pet']);
      await tool.done(['reset', 'app']);
      expect(await server.column('copy', 'SELECT COUNT(*) FROM pet')).toEqual(['7']);
      expect(await server.column('copy', 'SELECT thrice(1)')).toEqual(['3']);
      await tool.done(['branch', 'create', 'app', 'feature']);
      const branch = (await server.databases()).find((name) => name.includes('feature')) ?? '';
      expect(await server.column(branch, 'SELECT COUNT(*) FROM pet')).toEqual(['7']);
      // The base copy is no plain copy of the snapshot any more.
      await configure([step({ query_file: './migration.sql' })], { keep_base: false });
      const plain = await loaded(['--no-after-load']);
      if (kind === 'postgres')
        expect(plain.difference).toMatchObject({ method: 'full', reason: expect.stringContaining('after_load') });
      const pets =
        kind === 'postgres'
          ? "SELECT count(*) FROM pg_class WHERE relname = 'pet'"
          : "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'pet'";
      expect(await server.column('copy', pets)).toEqual(['0']);
      await tool.done(['branch', 'drop', 'app', 'feature']);
    }, 180_000);

    if (kind !== 'postgres') {
      it('moves code that names the new database, and refuses by name code with a text that does', async () => {
        const from = '\\`$MYSQL_DATABASE\\`.person';
        await configure([step({ command: `${client} "CREATE PROCEDURE count_all() SELECT COUNT(*) FROM ${from}"` })]);
        await loaded();
        const routines =
          "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'PROCEDURE'";
        expect(await server.column('copy', routines)).toEqual(['count_all']);
        const before = await server.content('copy');
        const body = `PREPARE s FROM 'SELECT COUNT(*) FROM ${from}'`;
        await configure([step({ command: `${client} "CREATE PROCEDURE count_all() ${body}"` })]);
        const { error } = await failed();
        expect(error).toMatchObject({ code: 'after_load_failed' });
        expect(error.details.join('\n')).toContain('procedure count_all');
        expect(await server.content('copy')).toBe(before);
        await expectNothingLeft();
      }, 60_000);
    } else {
      it('runs as the user of the URL, when the database has the owner and grants of the destination', async () => {
        await server.run('', [
          'CREATE ROLE keeper',
          'ALTER DATABASE copy OWNER TO keeper',
          'ALTER DATABASE copy SET search_path = extra, public',
        ]);
        await server.run('copy', ['REASSIGN OWNED BY postgres TO keeper']).catch(() => {});
        await configure([
          step({
            command: `${client} "SELECT current_user, pg_get_userbyid(datdba), current_setting('search_path') FROM pg_database WHERE datname = current_database()" > owner`,
          }),
        ]);
        await loaded();
        expect((await says('owner')).trim()).toBe('postgres|keeper|extra, public');
        await server.run('', ['ALTER DATABASE copy OWNER TO postgres', 'ALTER DATABASE copy RESET search_path']);
      }, 60_000);

      it('refuses them for a load in place', async () => {
        await configure([step({ command: 'touch ran' })]);
        const { code, error } = await failed(['--in-place']);
        expect([code, error.code]).toEqual([5, 'in_place_impossible']);
        await setTimeout(0);
        await expect(says('ran')).rejects.toThrow('ENOENT');
      }, 60_000);
    }
  });
}
