import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import type { SchemaConfig } from '../../../../src/config/schema/settings.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import type { RunEvent, WarningEvent } from '../../../../src/results/events.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** Objects in `public` that cannot be without `audit`, and what hangs on them. */
const OUTWARD = `
  CREATE SCHEMA audit;
  CREATE TABLE audit.log (id integer PRIMARY KEY);
  INSERT INTO audit.log VALUES (1);
  CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
  CREATE TABLE person (id integer PRIMARY KEY, log_id integer CONSTRAINT logged REFERENCES audit.log, boss integer REFERENCES person);
  INSERT INTO person VALUES (1, 1, NULL), (2, 1, 1);
  COMMENT ON CONSTRAINT logged ON person IS 'goes with it';
  CREATE VIEW logs AS SELECT log.id, log.id AS twice FROM audit.log;
  COMMENT ON VIEW logs IS 'goes with it';
  COMMENT ON COLUMN logs.twice IS 'goes with it';
  CREATE VIEW logs_of_logs AS SELECT count(*) FROM logs;
  CREATE MATERIALIZED VIEW counted AS SELECT id FROM audit.log;
  CREATE UNIQUE INDEX counted_index ON counted (id);
  COMMENT ON INDEX counted_index IS 'goes with it';
  CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
  CREATE TRIGGER written INSTEAD OF INSERT ON logs FOR EACH ROW EXECUTE FUNCTION stay();
  CREATE TRIGGER noted BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION audit.note();
  COMMENT ON TRIGGER noted ON person IS 'goes with it';
  CREATE FUNCTION audit.noted() RETURNS integer LANGUAGE sql AS 'SELECT 1';
  CREATE VIEW noting AS SELECT audit.noted() FROM person;
  CREATE VIEW people AS SELECT id FROM person;
  CREATE TRIGGER kept BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION stay();
  COMMENT ON TRIGGER kept ON person IS 'stays'`;

describeWithPostgres('a dump', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  async function database(name: string, sql: string): Promise<void> {
    await server.createDatabase(name);
    await server.psql(name, { sql });
  }

  function contextFor(
    source: string,
    { config, events = [] }: { config?: SchemaConfig; events?: RunEvent[] } = {},
  ): Context {
    const urls = { src_url: server.url(source), dst_url: server.url(`${source}_copy`) };
    const snapshot = { ...urls, ...(config && { schema_config: config }) };
    return testContext({ settings: { working_directory: folder.path, targets: { [source]: { snapshot } } }, events });
  }

  async function restored(context: Context, target: string): Promise<void> {
    await applyLoad(context, await planLoad(context, { target, cpus: 2 }));
  }

  it('keeps the rows of small tables apart, whatever they are', async () => {
    const rows = String.raw`('\.'), (''), (''), (''), (E'\n\\.\n\n\n')`;
    const tables = ['a', 'b', 'c', 'd'].map((name) => `CREATE TABLE ${name} (words text)`);
    const filled = ['a', 'c', 'd'].map((name) => `INSERT INTO ${name} VALUES ${rows}`);
    await database('odd', [...tables, ...filled, `INSERT INTO b VALUES ('')`].join(';'));
    const context = contextFor('odd');
    await build(context, { target: 'odd' });
    await restored(context, 'odd');
    expect(await server.dump('odd_copy')).toBe(await server.dump('odd'));
  });

  it('omits objects that need an omitted schema, warns, and restores all others', async () => {
    await database('outward', OUTWARD);
    const events: RunEvent[] = [];
    const context = contextFor('outward', { events });
    await build(context, { target: 'outward' });
    const [last, ...others] = events.filter((event): event is WarningEvent => event.event === 'warning').reverse();
    expect(last?.code).toBe('schemas_left_out');
    const warnings = others.filter(({ code }) => code === 'object_left_out');
    expect(warnings).toEqual(others);
    const told = warnings.map(({ message }) => / (public\.\S+) needs (\S+),/.exec(message)?.slice(1).join(' ← '));
    expect(told.sort()).toEqual([
      'public.counted ← audit.log',
      'public.counted_index ← audit.log',
      'public.logs ← audit.log',
      'public.logs.written ← audit.log',
      'public.logs_of_logs ← audit.log',
      'public.noting ← audit.noted()',
      'public.person.logged ← audit.log',
      'public.person.noted ← audit.note()',
    ]);
    await restored(context, 'outward');
    await server.psql('outward', { sql: 'DROP SCHEMA audit CASCADE' });
    expect(await server.dump('outward_copy')).toBe(await server.dump('outward'));
  });

  it('reports once per table what its parts cannot keep, with a few names and a count', async () => {
    const parts = (schema: string, parent: string) =>
      `DO $$ BEGIN FOR n IN 1..5 LOOP EXECUTE format('CREATE TABLE ${schema}.${parent}_%s PARTITION OF ${parent} FOR VALUES IN (%s)', n, n); END LOOP; END $$;`;
    await database(
      'parted',
      `CREATE SCHEMA audit; CREATE TABLE audit.reason (id integer PRIMARY KEY);
      CREATE TABLE sale (id integer REFERENCES audit.reason) PARTITION BY LIST (id); ${parts('public', 'sale')}
      CREATE TABLE rent (id integer) PARTITION BY LIST (id); ${parts('audit', 'rent')}
      CREATE TABLE audit.visit (id integer) PARTITION BY LIST (id); ${parts('public', 'audit.visit').replaceAll('public.audit.visit_', 'public.visit_')}`,
    );
    const events: RunEvent[] = [];
    await build(contextFor('parted', { events }), { target: 'parted' });
    const told = events.flatMap((event) =>
      event.event === 'warning' ? [event.message.replace(/,? whose.*/, '')] : [],
    );
    expect(told.sort()).toEqual([
      'The rows of audit.rent_1, audit.rent_2, audit.rent_3 and 2 more, parts of public.rent, are not in the snapshot: their schema is left out',
      expect.stringMatching(/^The table constraints public\.sale\S* .* more need audit\.reason$/),
      'public.visit_1, public.visit_2, public.visit_3 and 2 more are parts of audit.visit',
    ]);
  });

  it('and its load start few programs for a small database', async () => {
    await database('small', 'CREATE TABLE one (id integer PRIMARY KEY); INSERT INTO one VALUES (1)');
    await database('small_copy', 'CREATE TABLE old (id integer)');
    const given = contextFor('small');
    const files: string[] = [];
    const runner: Context['runner'] = {
      ...given.runner,
      run(command, options) {
        files.push(basename(command.file));
        return given.runner.run(command, options);
      },
      start(command, options) {
        files.push(basename(command.file));
        return given.runner.start(command, options);
      },
    };
    const started = (): string[] =>
      files
        .splice(0)
        .filter((file) => file !== 'sh')
        .sort();
    const context = { ...given, runner };
    await build(context, { target: 'small' });
    expect(started()).toEqual(['pg_dump', 'psql']);
    await restored(context, 'small');
    // psql has the last word on whether a new role may log in.
    expect(started()).toEqual(['pg_restore', 'pg_restore', 'psql']);
  });

  it('restores objects that need an extension in any schema', async () => {
    await database(
      'extended',
      `CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext;
      CREATE TABLE person (mail ext.citext PRIMARY KEY, mails ext.citext[]); INSERT INTO person VALUES ('A@b', '{c}');
      CREATE VIEW mails AS SELECT ext.replace(mail, 'a'::ext.citext, 'b'::ext.citext) FROM person`,
    );
    const events: RunEvent[] = [];
    const context = contextFor('extended', { events });
    await build(context, { target: 'extended' });
    await restored(context, 'extended');
    expect(events.filter(({ event }) => event === 'warning')).toEqual([]);
    expect(await server.dump('extended_copy')).toBe(await server.dump('extended'));
  });

  it('refuses a schema whose columns need a type of a schema that is left out', async () => {
    await database(
      'typed',
      `CREATE SCHEMA kinds; CREATE TYPE kinds.mood AS ENUM ('fine'); CREATE DOMAIN kinds.mail AS text;
      CREATE TABLE person (id integer, mood kinds.mood, moods kinds.mood[], mail kinds.mail)`,
    );
    const building = build(contextFor('typed'), { target: 'typed' });
    await expect(building).rejects.toMatchObject({
      code: 'schema_needed',
      details: expect.arrayContaining([
        'public.person.mood is of type kinds.mood',
        'public.person.mail is of type kinds.mail',
        'public.person.moods is of type kinds.mood',
      ]),
      hint: expect.stringContaining('include_schemas: kinds'),
    });
    const all = contextFor('typed', { config: { use_default_schema: false } });
    await build(all, { target: 'typed' });
    await restored(all, 'typed');
    expect(await server.dump('typed_copy')).toBe(await server.dump('typed'));
  });

  it('is of one instant, however much is written meanwhile', async () => {
    await database(
      'busy',
      `CREATE TABLE child (id bigserial PRIMARY KEY, parent bigint); CREATE TABLE parent (id bigserial PRIMARY KEY)`,
    );
    const stop = new AbortController();
    const { runner } = testContext({ settings: {} });
    const together = `WITH one AS (INSERT INTO parent DEFAULT VALUES RETURNING id) INSERT INTO child (parent) SELECT id FROM one`;
    const writer = runner.start({ file: 'psql', args: ['-X', '-q', server.url('busy')] }, { signal: stop.signal });
    writer.stdin.on('error', () => {});
    const again = `SELECT count(*) FROM child \\gset\n${`${together};\n`.repeat(200)}\\echo :count\n`;
    writer.stdout.on('data', () => writer.stdin.write(again));
    writer.stdin.write(again);
    const context = contextFor('busy');
    const rows: number[] = [];
    for (let run = 0; run < 4; run += 1) {
      const snapshot = await build(context, { target: 'busy', cpus: 2 });
      rows.push(snapshot.rows);
      await restored(context, 'busy');
      const orphans =
        'SELECT count(*) FROM child FULL JOIN parent ON parent.id = child.parent WHERE child.id IS NULL OR parent.id IS NULL';
      expect(await server.psql('busy_copy', { sql: orphans })).toBe('0\n');
    }
    stop.abort();
    await writer.ended.catch(() => {});
    expect(new Set(rows).size).toBeGreaterThan(1);
  });

  it('is loaded although the source draws numbers of sequences meanwhile', async () => {
    await database('drawn', 'CREATE TABLE item (id bigserial PRIMARY KEY); INSERT INTO item DEFAULT VALUES');
    const client = new pg.Client({ connectionString: server.url('drawn') });
    await client.connect();
    const given = contextFor('drawn');
    const draw = (count: number) => client.query(`SELECT nextval('item_id_seq') FROM generate_series(1, ${count})`);
    const runner: Context['runner'] = {
      ...given.runner,
      async run(command, options) {
        if (basename(command.file) !== 'pg_dump') return given.runner.run(command, options);
        await draw(100);
        const completed = await given.runner.run(command, options);
        await draw(1000);
        return completed;
      },
    };
    await build({ ...given, runner }, { target: 'drawn' });
    await client.end();
    const [manifest = ''] = await readdir(`${folder.path}/snapshots/drawn`);
    const { details } = JSON.parse(await readFile(`${folder.path}/snapshots/drawn/${manifest}`, 'utf8'));
    // pg_dump reads them later: at 101.
    expect(details.inventory.sequences).toMatchObject([{ name: 'public.item_id_seq', last_value: 1 }]);
    await restored(given, 'drawn');
    expect(await server.psql('drawn_copy', { sql: 'SELECT last_value FROM item_id_seq' })).toBe('101\n');
  });

  it('is the same files again when nothing has changed, even a second later', async () => {
    await database('still', 'CREATE TABLE item AS SELECT i AS id FROM generate_series(1, 1000) i');
    const context = contextFor('still');
    await build(context, { target: 'still' });
    const objects = await readdir(`${folder.path}/objects`, { recursive: true });
    const now = new Date();
    while (new Date().getSeconds() === now.getSeconds()) await nextTurn();
    await build(context, { target: 'still' });
    expect(await readdir(`${folder.path}/objects`, { recursive: true })).toEqual(objects);
  });

  it('shows no password in the list of processes, nor in its messages', async () => {
    await database('quiet', 'CREATE TABLE item AS SELECT i AS id FROM generate_series(1, 1000) i');
    const password = new URL(server.url('quiet')).password;
    const events: RunEvent[] = [];
    const context = contextFor('quiet', { events });
    const lines = new Set<string>();
    let over = false;
    const looking = (async () => {
      while (!over) for (const line of await commandLines()) lines.add(line);
    })();
    const programs = ['psql', 'pg_dump', 'pg_restore'];
    const isSeen = (program: string): boolean =>
      [...lines].some((line) => line.split('\0')[0]?.endsWith(`/${program}`));
    // Some live so shortly that a busy machine looks too late.
    for (let time = 0; time < 10 && !programs.every(isSeen); time += 1) {
      await build(context, { target: 'quiet' });
      await applyLoad(context, await planLoad(context, { target: 'quiet' }));
    }
    over = true;
    await looking;
    expect(programs.filter(isSeen)).toEqual(programs);
    expect([...lines].filter((line) => line.includes(password))).toEqual([]);
    expect(JSON.stringify(events)).not.toContain(password);
  }, 60_000);

  it("explains in the tool's words what pg_dump was refused", async () => {
    await database('secret', 'CREATE TABLE open (id integer); CREATE TABLE hidden (id integer)');
    await server.psql('secret', { sql: `CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON open TO reader` });
    const snapshot = { src_url: server.url('secret').replace(/postgres:[^/@]+@/, 'reader:reader@') };
    const context = testContext({ settings: { working_directory: folder.path, targets: { secret: { snapshot } } } });
    await expect(build(context, { target: 'secret' })).rejects.toMatchObject({
      code: 'dump_failed',
      details: expect.arrayContaining([expect.stringContaining('permission denied for table hidden')]),
    });
    expect(await readdir(`${folder.path}/staging`)).toEqual([]);
  });
});

/** The argument lists of all processes that can be seen, this one's children among them. */
async function commandLines(): Promise<string[]> {
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  return Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
}
