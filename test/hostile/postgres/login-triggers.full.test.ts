import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startInside } from '../../helpers/postgres/debian-postgres.ts';
import { canHaveSid, type DebianTree, debianTree } from '../../helpers/postgres/debian-tree.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const lacking = canHaveSid ? '' : ' (needs root and debootstrap)';

/** Makes a superuser and refuses every login, in any other database than `shop`. */
const ROWS = `CREATE TABLE person (id integer PRIMARY KEY, note text); INSERT INTO person VALUES (1, 'x')`;
const WELCOME = `
  CREATE FUNCTION welcome() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_database() = 'shop' THEN RETURN; END IF;
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN CREATE ROLE evil SUPERUSER; END IF;
    RAISE EXCEPTION 'nobody may log in'; END $$;
  CREATE EVENT TRIGGER welcome ON login EXECUTE FUNCTION welcome();
  CREATE EVENT TRIGGER "It's always" ON login EXECUTE FUNCTION welcome(); ALTER EVENT TRIGGER "It's always" ENABLE ALWAYS`;
const STATES = `SELECT string_agg(evtname || ' ' || evtenabled::text, ', ' ORDER BY evtname) FROM pg_event_trigger`;
const EVIL = `SELECT count(*) FROM pg_roles WHERE rolname = 'evil'`;

describe.skipIf(!canHaveSid)(`login triggers of PostgreSQL 17${lacking}`, () => {
  let debian: DebianTree;
  let server: Awaited<ReturnType<typeof startInside>>;
  let folder: string;

  beforeAll(async () => {
    debian = await debianTree('trixie', ['postgresql-17', 'procps']);
    server = await startInside(debian, 17);
    folder = await mkdtemp(join(debian.root, 'tmp/tool-'));
    await mkdir(join(folder, 'work'));
    const inside = folder.slice(debian.root.length);
    const shop = {
      snapshot: { src_url: server.url('shop'), dst_url: server.url('copy') },
      sanitize: { query_file: `${inside}/query.sql`, dst_url: server.url('clean') },
      subset: { src_url: server.url('shop'), dst_url: server.url('small'), copy_tables: ['public.person'] },
    };
    const text = { secret_key: 'ab'.repeat(16), working_directory: `${inside}/work`, targets: { shop } };
    await writeFile(join(folder, 'tool.yml'), JSON.stringify(text), { mode: 0o600 });
    await writeFile(join(folder, 'query.sql'), "UPDATE person SET note = 'none'");
    await server.psql('postgres', 'CREATE DATABASE shop');
    await server.psql('shop', ROWS);
  }, 300_000);

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    if (folder) await rm(folder, { recursive: true });
  });

  function tool(words: string) {
    return debian.shell(`node ${MAIN} --config ${folder.slice(debian.root.length)}/tool.yml --yes ${words}`);
  }

  it('arrive disabled, run as nobody during a load, a subset and a sanitization, and lock nobody out', async () => {
    await server.psql('shop', WELCOME);
    const built = await tool('build shop --no-sanitize');
    expect(built.exit, built.output).toBe(0);
    for (const { words, database } of [
      { words: 'load shop --original', database: 'copy' },
      { words: 'load shop --original --in-place', database: 'copy' },
      { words: `load shop --original --allow-superuser --destdb '${server.url('other')}'`, database: 'other' },
      { words: 'subset shop', database: 'small' },
      { words: 'sanitize shop', database: 'clean' },
    ]) {
      const { exit, output } = await tool(words);
      expect(exit, `${words}: ${output}`).toBe(0);
      expect(output, words).toContain("Created disabled, since they would run at each login: It's always, welcome");
      expect((await server.psql(database, STATES)).trim()).toBe("It's always D, welcome D");
      expect((await server.psql('postgres', EVIL)).trim(), words).toBe('0');
    }
    await server.psql('shop', `DROP EVENT TRIGGER welcome; DROP EVENT TRIGGER "It's always"; DROP FUNCTION welcome()`);
  }, 400_000);

  it('of a source and a destination run for the sessions of a build, a load and an undo as for any other', async () => {
    const count = `CREATE TABLE logins (who text); CREATE FUNCTION count_login() RETURNS event_trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO public.logins VALUES (session_user); END'; CREATE EVENT TRIGGER count_login ON login EXECUTE FUNCTION count_login()`;
    await server.psql('postgres', 'CREATE DATABASE counted');
    await server.psql('counted', count);
    await server.psql('shop', count);
    for (const words of ['build shop --no-sanitize', `load shop --original --destdb '${server.url('counted')}'`]) {
      const { exit, output } = await tool(words);
      expect(exit, `${words}: ${output}`).toBe(0);
    }
    expect((await server.psql('counted', STATES)).trim()).toBe('count_login D');
    expect(Number(await server.psql('shop', 'SELECT count(*) FROM logins'))).toBeGreaterThan(1);
    const undone = await tool(`undo shop --destdb '${server.url('counted')}'`);
    expect(undone.exit, undone.output).toBe(0);
    expect((await server.psql('counted', STATES)).trim()).toBe('count_login O');
    // The sessions of a subset only read, so that such a trigger refuses them.
    const refused = await tool('subset shop');
    expect(refused.output).toContain('cannot execute INSERT in a read-only transaction');
    expect(refused.exit).toBe(4);
  }, 400_000);
});
