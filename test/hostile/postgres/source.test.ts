import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quoteName, quoteText } from '../../../src/engines/postgres/connection/quote.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { type Forge, startForgingServer } from '../../helpers/proxies/forging-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** At most 63 bytes each, as the server has them. */
const NAMES = (proof: string): string[] => [
  `a\n\\! touch ${proof}\n`,
  'quote\'s "double" \\back\\',
  '\n\\.\n',
  'q\n;\nCREATE TABLE forged ();\n',
  `\u0001\u0007\u001b[2J\t\r\u007f`,
  '$check$ $$ :name :\'name\' :"name" `id`',
  '--comment /* open',
  "$' $& $` $1",
  '"; DROP SCHEMA public CASCADE; --',
];

describeWithPostgres('a hostile source', () => {
  let server: TestPostgres;
  const folder = suiteResource(() => temporaryFolder({ mode: 0o777 }));
  let proof: string;

  function context(source: string): Context {
    const schema_config = { include_schemas: NAMES(proof) };
    const snapshot = { src_url: source, dst_url: server.url('loaded'), schema_config };
    const small = { src_url: source, dst_url: server.url('small'), copy_tables: [] as string[] };
    return testContext({
      settings: { working_directory: folder.path, targets: { app: { snapshot }, small: { subset: small } } },
    });
  }

  async function makeSubset(source: string, tables: string[]): Promise<void> {
    const given = context(source);
    Object.assign(given.configuration.settings.targets.small?.subset ?? {}, { copy_tables: tables });
    await applySubset(given, await planSubset(given, { target: 'small', cpus: 2 }));
  }

  beforeAll(async () => {
    proof = join(folder.path, 'x');
    server = await startPostgres();
    await server.createDatabase('named');
    for (const name of NAMES(proof)) {
      const [own, text] = [quoteName(name), quoteText(name)];
      const sql = `CREATE SCHEMA ${own};
        CREATE TYPE ${own}.${own} AS ENUM (${text}, 'other');
        CREATE SEQUENCE ${own}.${quoteName(`s${name}`.slice(0, 60))};
        SELECT nextval(${quoteText(`${own}.${quoteName(`s${name}`.slice(0, 60))}`)});
        CREATE TABLE ${own}.${quoteName(`t${name}`.slice(0, 60))} (${own} serial CONSTRAINT ${own} PRIMARY KEY, kind ${own}.${own}, note text DEFAULT ${text});
        CREATE TABLE ${own}.child (id int REFERENCES ${own}.${quoteName(`t${name}`.slice(0, 60))} (${own}), CONSTRAINT ${quoteName(`c${name}`.slice(0, 60))} CHECK (id > 0));
        INSERT INTO ${own}.${quoteName(`t${name}`.slice(0, 60))} (kind) VALUES (${text}), ('other');
        INSERT INTO ${own}.child VALUES (1), (2);
        CREATE MATERIALIZED VIEW ${own}.seen AS SELECT ${own} FROM ${own}.${quoteName(`t${name}`.slice(0, 60))};
        COMMENT ON SCHEMA ${own} IS ${text}`;
      await server.psql('named', { sql });
    }
    await server.createDatabase('plain');
    await server.psql('plain', {
      sql: `CREATE TABLE items (id integer PRIMARY KEY, note text); INSERT INTO items VALUES (1, 'FORGE'), (2, 'two');
        CREATE TABLE parts (id integer PRIMARY KEY, item integer REFERENCES items); INSERT INTO parts VALUES (1, 1);
        CREATE SEQUENCE counter; SELECT nextval('counter'); SELECT lo_from_bytea(70001, 'FORGE');
        CREATE TABLE papers (id integer PRIMARY KEY, content oid); INSERT INTO papers VALUES (1, 70001)`,
    });
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
  });

  it('a source whose names contain control characters, quotes and commands is built, loaded and subset', async () => {
    const source = server.url('named');
    const before = await server.dump('named');
    await build(context(source), { target: 'app', cpus: 2 });
    for (const inPlace of [false, true]) {
      const given = context(source);
      await applyLoad(given, await planLoad(given, { target: 'app', cpus: 2, inPlace }));
      expect(await server.dump('loaded')).toBe(before);
    }
    const tables = await server.psql('named', {
      sql: `SELECT json_agg(n.nspname || '.' || c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`,
    });
    const some = (JSON.parse(tables) as string[]).filter((name) => name.endsWith('.child'));
    const given = context(source);
    const { tables: loaded } = await applyLoad(given, await planLoad(given, { target: 'app', cpus: 2, tables: some }));
    expect(loaded).toBe(2 * some.length);
    await makeSubset(source, JSON.parse(tables) as string[]);
    expect(await server.dump('small')).toBe(before);
    expect(await server.dump('named')).toBe(before);
    expect(existsSync(proof)).toBe(false);
  }, 60_000);

  const command = (): string => `\\! touch ${proof}`;
  const lies: { what: string; forge: Forge; code: string }[] = [
    {
      what: 'rows that end their COPY',
      forge: (text) => text.replace('1\tFORGE\n', () => `1\tx\n\\.\n${command()}\n`),
      code: 'content_refused',
    },
    {
      what: 'a large object that ends its COPY',
      forge: (text) => text.replace(Buffer.from('FORGE').toString('hex'), () => `00\n\\.\n${command()}`),
      code: 'content_refused',
    },
    {
      what: 'an operator that is a statement',
      forge: (text) => text.replace('"name" : "="', () => `"name" : ${JSON.stringify(`= NULL) \n;\n${command()}\n`)}`),
      code: 'content_refused',
    },
    {
      what: 'a relation whose number is a command',
      forge: (text) =>
        text.replace(
          /"oid":\d+,"schema":"public","name":"items"(.*?)"rows":-?\d+/s,
          (_, middle) =>
            `"oid":${JSON.stringify(`1\n;\n${command()}\n`)},"schema":"public","name":"items"${middle}"rows":-1`,
        ),
      code: '',
    },
    {
      what: 'a sequence whose value is a command',
      forge: (text) =>
        text.replace('"last_value":"1"', () => `"last_value":${JSON.stringify(`1)\n;\n${command()}\n`)}`),
      code: '',
    },
  ];

  it.each(lies)('a source that sends $what runs nothing here and writes nothing there', async ({ forge, code }) => {
    await using forging = await startForgingServer(server.port, forge);
    const before = await server.dump('plain');
    const databases = await server.databases();
    const making = makeSubset(forging.through(server.url('plain')), ['public.items', 'public.parts', 'public.papers']);
    await expect(making).rejects.toMatchObject(code === '' ? { name: expect.any(String) } : { code });
    expect(existsSync(proof)).toBe(false);
    expect(await server.dump('plain')).toBe(before);
    expect(await server.databases()).toEqual(databases);
  });
});
