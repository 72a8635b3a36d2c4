import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { diff } from '../../../src/operations/snapshots/diff/diff.ts';
import { explainSubset } from '../../../src/operations/subset/explain-subset.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import type { SubsetSettings } from '../../../src/subset/graph.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** A table of migrations whose keys a role without rights converts to text, by a function that uses its caller's rights. */
const TRAP = `
  CREATE TYPE version AS ENUM ('20260101000000', '20260102000000');
  CREATE FUNCTION caught(version) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'it ran as %', current_user; END $$;
  CREATE CAST (version AS text) WITH FUNCTION caught(version);
  CREATE TABLE schema_migrations (version version PRIMARY KEY);
  INSERT INTO schema_migrations VALUES ('20260101000000'), ('20260102000000');`;

/** Fails in a session of a superuser only. */
const CAUGHT = `CREATE FUNCTION caught(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('is_superuser') = 'on' THEN RAISE EXCEPTION 'it ran as %', current_user; END IF; RETURN $1; END $$;`;

const TABLES = `
  CREATE TABLE parent (id text PRIMARY KEY, code varchar(20) UNIQUE);
  CREATE TABLE child (id integer PRIMARY KEY, code varchar(20));
  INSERT INTO parent VALUES ('x', 'cx'), ('y', 'cy');
  INSERT INTO child VALUES (1, 'cx'), (2, 'cx'), (3, NULL);`;

const OPERATOR = `
  CREATE FUNCTION same(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN public.caught($1) = public.caught($2); END $$;
  CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = same);`;

/** The key is of a domain over a domain. */
const REFERENCE = `
  CREATE TYPE kind AS ENUM ('x', 'y');
  CREATE FUNCTION kind_text(kind) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN public.caught(concat($1)); END $$;
  CREATE CAST (kind AS text) WITH FUNCTION kind_text(kind) AS IMPLICIT;
  CREATE DOMAIN outer_kind AS kind; CREATE DOMAIN inner_kind AS outer_kind;
  CREATE TABLE by_kind (id integer PRIMARY KEY, kind inner_kind REFERENCES parent);
  INSERT INTO by_kind VALUES (1, 'x'), (2, NULL);`;

describeWithPostgres('a cast of a role without rights', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let context: Context;

  beforeAll(async () => {
    await server.psql('postgres', { sql: `CREATE ROLE guest LOGIN PASSWORD 'guest'` });
    await server.createDatabase('theirs', 'guest');
    await server.psql('theirs', { sql: `SET ROLE guest; ${TRAP}` });
    const subset = {
      src_url: server.url('theirs'),
      dst_url: server.url('small'),
      subset_tables: [{ table: 'public.schema_migrations', percent: 50 }],
    };
    const snapshot = { src_url: server.url('theirs'), dst_url: server.url('copy'), role: 'guest' };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot, subset } } };
    context = testContext({ settings });
  }, 60_000);

  it('does not run with the rights of a superuser that compares the destination with its snapshot', async () => {
    await build(context, { target: 'app' });
    await applyLoad(context, await planLoad(context, { target: 'app' }));
    // The same migrations as in the snapshot, whose rows are read without the server.
    expect(await diff(context, { target: 'app', a: 0 })).not.toHaveProperty('migrations');
    await server.psql('copy', { sql: "DELETE FROM schema_migrations WHERE version = '20260102000000'" });
    const { migrations } = await diff(context, { target: 'app', a: 0 });
    expect(migrations).toMatchObject([{ only_from: ['20260102000000'], only_to: [] }]);
  });

  it('does not run with the rights of a superuser that makes a subset of their database', async () => {
    const { rows } = await applySubset(context, await planSubset(context, { target: 'app' }));
    expect(rows).toBe(1);
    const chains = await Promise.all(
      ['20260101000000', '20260102000000'].map(async (key) => {
        const { chain } = await explainSubset(context, { target: 'app', row: `public.schema_migrations:${key}` });
        return chain?.map((link) => link.key);
      }),
    );
    expect(chains.filter((chain) => chain !== undefined)).toHaveLength(1);
  });
});

describeWithPostgres('a subset that a superuser makes of a database of a role without rights', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.psql('postgres', { sql: `CREATE ROLE guest LOGIN PASSWORD 'guest'` });
    for (const [name, sql] of Object.entries({ operators: OPERATOR, references: REFERENCE })) {
      await server.createDatabase(name, 'guest');
      await server.psql(name, { sql: `SET ROLE guest; ${CAUGHT} ${TABLES} ${sql}` });
    }
  }, 60_000);

  async function make(source: string, section: SubsetSettings, user?: string) {
    const url = new URL(server.url(source));
    if (user) Object.assign(url, { username: user, password: user });
    const subset = { src_url: url.href, dst_url: server.url('small'), ...section };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { subset } } };
    const context = testContext({ settings });
    return applySubset(context, await planSubset(context, { target: 'app' }));
  }

  const ADDED = { fk_table: 'public.child', fk_columns: 'code', ref_table: 'public.parent', ref_columns: 'code' };
  const CHILDREN = { subset_tables: [{ table: 'public.child', percent: 100 }], added_relationships: [ADDED] };

  it('follows an added relationship without the operator of the role', async () => {
    expect(await make('operators', CHILDREN)).toMatchObject({ rows: 4 });
  });

  it('is refused where the operator of an added relationship is beside one of the role for a domain', async () => {
    await server.createDatabase('domains', 'guest');
    await server.psql('domains', { sql: 'CREATE EXTENSION citext' });
    const table = `TABLE parent (code mail PRIMARY KEY); CREATE TABLE child (id integer PRIMARY KEY, code mail)`;
    await server.psql('domains', {
      sql: `SET ROLE guest; ${CAUGHT} CREATE DOMAIN mail AS citext; CREATE ${table};
        INSERT INTO parent VALUES ('X'); INSERT INTO child VALUES (1, 'x')`,
    });
    expect(await make('domains', CHILDREN)).toMatchObject({ rows: 2 });
    await server.psql('domains', { sql: `SET ROLE guest; ${OPERATOR.replaceAll('varchar', 'mail')}` });
    await expect(make('domains', CHILDREN)).rejects.toMatchObject({
      code: 'subset_invalid',
      details: [expect.stringContaining('the operator public.=(public.mail,public.mail)')],
    });
  });

  it('is refused where a foreign key casts by a function of the role, and works without the key', async () => {
    const section = { subset_tables: [{ table: 'public.by_kind', percent: 100 }] };
    await expect(make('references', section)).rejects.toMatchObject({
      code: 'subset_invalid',
      message: expect.stringContaining('by_kind_kind_fkey'),
      details: [expect.stringContaining('the cast from public.kind to text, whose function belongs to guest')],
    });
    const excluded = [{ fk_table: 'public.by_kind', ref_table: 'public.parent' }];
    expect(await make('references', { ...section, excluded_relationships: excluded })).toMatchObject({ rows: 2 });
    // The role may drop the cast, and add it again at any time.
    await server.psql('references', { sql: 'ALTER FUNCTION kind_text(kind) OWNER TO postgres' });
    await expect(make('references', section)).rejects.toMatchObject({
      details: [expect.stringContaining('the casts of public.kind, which belongs to guest')],
    });
    await server.psql('references', { sql: 'ALTER FUNCTION kind_text(kind) OWNER TO guest' });
  });

  it('runs a condition without operators and functions of the role, whose schemas are to be named', async () => {
    const where = (condition: string) => ({ subset_tables: [{ table: 'public.parent', where: condition }] });
    expect(await make('operators', where("code = 'cx'::varchar"))).toMatchObject({ rows: 1 });
    expect(await make('operators', where('code IN (SELECT code FROM public.child)'))).toMatchObject({ rows: 1 });
    for (const unknown of ['code IN (SELECT code FROM child)', "caught(code) = 'cx'"]) {
      await expect(make('operators', where(unknown)), unknown).rejects.toMatchObject({
        code: 'subset_invalid',
        hint: 'Qualify names with their schemas: other roles have code in public, where no names are looked up.',
      });
    }
    // Nothing changes for the role itself.
    expect(await make('operators', where("caught(code) = 'cx'"), 'guest')).toMatchObject({ rows: 1 });
  });

  it('refuses a condition where a cast is of the role', async () => {
    const section = { subset_tables: [{ table: 'public.by_kind', where: "kind = 'x'" }] };
    const excluded = { excluded_relationships: [{ fk_table: 'public.by_kind', ref_table: 'public.parent' }] };
    await expect(make('references', { ...section, ...excluded })).rejects.toMatchObject({
      code: 'subset_invalid',
      message: expect.stringContaining('it can run the cast from public.kind to text'),
    });
  });
});
