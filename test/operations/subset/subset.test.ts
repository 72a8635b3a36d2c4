import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { explainSubset } from '../../../src/operations/subset/explain-subset.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import { writeSubsetGraph } from '../../../src/operations/subset/subset-graph.ts';
import type { SubsetRequest } from '../../../src/operations/subset/subset-setting.ts';
import { suggestSubsetSettings } from '../../../src/operations/subset/suggest-subset.ts';
import type { SubsetResult } from '../../../src/results/subset-results.ts';
import type { SubsetSettings } from '../../../src/subset/graph.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

const SHOP = new URL('../../../assets/demo/shop.sql', import.meta.url).pathname;

/** What makes references hard: operators and keys of their own, nulls, partitions, no keys, and what rows carry with them. */
const HARD = `
  CREATE EXTENSION citext; CREATE SCHEMA other;
  CREATE TABLE account (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, mail citext UNIQUE NOT NULL, "Odd "" name" text,
    twice integer GENERATED ALWAYS AS (id * 2) STORED);
  INSERT INTO account (mail, "Odd "" name") SELECT 'User' || i || '@x', E'tab\\t\\\\. and \\n line' FROM generate_series(1, 20) i;
  CREATE TABLE other.letter (mail citext REFERENCES account (mail) ON UPDATE CASCADE, body text);
  INSERT INTO other.letter SELECT 'USER' || i || '@X', 'letter ' || i FROM generate_series(1, 20) i;
  CREATE TABLE measure (account_id integer NOT NULL, at date NOT NULL, follows_at date, PRIMARY KEY (account_id, at),
    FOREIGN KEY (account_id) REFERENCES account) PARTITION BY RANGE (at);
  CREATE TABLE measure_1 PARTITION OF measure FOR VALUES FROM ('2026-01-01') TO ('2026-01-11');
  CREATE TABLE measure_2 PARTITION OF measure FOR VALUES FROM ('2026-01-11') TO ('2027-01-01');
  INSERT INTO measure SELECT a, date '2026-01-01' + d, CASE WHEN d > 0 THEN date '2026-01-01' + d - 1 END
    FROM generate_series(1, 20) a, generate_series(0, 19) d;
  ALTER TABLE measure ADD FOREIGN KEY (account_id, follows_at) REFERENCES measure;
  CREATE TABLE audit (id integer PRIMARY KEY);
  INSERT INTO audit VALUES (1);
  CREATE TABLE audited (id serial PRIMARY KEY, account_id integer REFERENCES account, audit_id integer NOT NULL REFERENCES audit,
    noted_by integer REFERENCES audit);
  INSERT INTO audited (id, account_id, audit_id, noted_by) SELECT i, i, 1, 1 FROM generate_series(1, 20) i;
  CREATE TABLE loose (id integer PRIMARY KEY, account_no integer);
  INSERT INTO loose SELECT i, i FROM generate_series(1, 25) i;
  CREATE TABLE nothing ();
  INSERT INTO nothing DEFAULT VALUES;
  CREATE TABLE fired (id integer);
  CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.fired VALUES (1); RETURN NEW; END';
  CREATE TRIGGER fires AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION fire();
  CREATE MATERIALIZED VIEW mails AS SELECT mail FROM account;
  CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM mails;
  CREATE SEQUENCE loose_number START 500; SELECT nextval('loose_number'), nextval('loose_number')`;

describeWithPostgres('a subset', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('hard');
    await server.psql('hard', { sql: HARD });
    await server.createDatabase('shop');
    await server.psql('shop', { file: SHOP });
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function contextFor(source: string, section: SubsetSettings) {
    const subsetSection = { src_url: server.url(source), dst_url: server.url(`${source}_small`), ...section };
    const snapshot = { dst_url: server.url(`${source}_loaded`) };
    return testContext({
      settings: { working_directory: folder.path, targets: { t: { subset: subsetSection, snapshot } } },
    });
  }

  async function make(
    source: string,
    section: SubsetSettings,
    request: Partial<SubsetRequest> = {},
  ): Promise<SubsetResult> {
    const context = contextFor(source, section);
    return applySubset(context, await planSubset(context, { target: 't', cpus: 2, ...request }));
  }

  async function ask(database: string, sql: string): Promise<string> {
    return (await server.psql(database, { sql })).trim();
  }

  it('is suggested for a target without one, and made by that suggestion beside the destination of the target', async () => {
    const targets = { t: { snapshot: { src_url: server.url('shop'), dst_url: server.url('shop_dev') } } };
    const context = testContext({ settings: { working_directory: folder.path, targets } });
    await expect(planSubset(context, { target: 't' })).rejects.toMatchObject({ code: 'subset_missing' });
    const suggestion = await suggestSubsetSettings(context, { target: 't', cpus: 2 });
    expect(suggestion.subset_tables[0]).toEqual({ table: 'public.customer', percent: 5 });
    const made = await applySubset(context, await planSubset(context, { target: 't', suggest: true, cpus: 2 }));
    expect(made.destination).toContain('/shop_subset');
    expect(made.proof.filter(({ orphans }) => orphans !== 0)).toEqual([]);
    const filled = (rows: { table: string; rows: number | null }[]) =>
      rows.flatMap(({ table, rows: count }) => (count ? [`${table} ${count}`] : [])).sort();
    const counted = suggestion.tables.map(({ table, rows_expected }) => ({ table, rows: rows_expected }));
    expect(filled(made.tables)).toEqual(filled(counted));
    const excluded = { snapshot: { ...targets.t.snapshot, exclude_rows: ['public.customer'] } };
    const without = testContext({ settings: { working_directory: folder.path, targets: { t: excluded } } });
    const { subset_tables } = await suggestSubsetSettings(without, { target: 't', cpus: 2 });
    expect(subset_tables.map(({ table }) => table)).not.toContain('public.customer');
  });

  const THREE: SubsetSettings = {
    subset_tables: [{ table: 'public.account', where: "mail = 'user3@X' OR id IN (4, 5)" }],
  };

  it('follows references by their own operator, to unique keys, over partitions and circles, and carries every value', async () => {
    const result = await make('hard', THREE);
    expect(await ask('hard_small', 'SELECT array_agg(id ORDER BY id) FROM account')).toBe('{3,4,5}');
    expect(await ask('hard_small', 'SELECT array_agg(mail ORDER BY mail) FROM other.letter')).toBe(
      '{USER3@X,USER4@X,USER5@X}',
    );
    expect(
      await ask('hard_small', 'SELECT count(*), count(DISTINCT account_id), count(DISTINCT tableoid) FROM measure'),
    ).toBe('60|3|2');
    const rows = 'SELECT json_agg(a ORDER BY id) FROM account a WHERE id IN (3, 4, 5)';
    expect(await ask('hard_small', rows)).toBe(await ask('hard', rows));
    expect(result.proof.map(({ orphans }) => orphans)).toEqual(result.proof.map(() => 0));
    expect(await ask('hard_small', 'SELECT count(*) FROM loose')).toBe('0');
  });

  it('has the whole schema, sequences past the highest value, refreshed views, statistics, and fired no trigger', async () => {
    await make('hard', THREE);
    expect(await server.dump('hard_small', '--schema-only')).toBe(await server.dump('hard', '--schema-only'));
    expect(await ask('hard_small', 'SELECT * FROM counted')).toBe('3');
    expect(await ask('hard_small', 'SELECT count(*) FROM fired')).toBe('0');
    expect(
      await ask('hard_small', "SELECT nextval('loose_number'), nextval('account_id_seq'), nextval('audited_id_seq')"),
    ).toBe('502|21|6');
    expect(await ask('hard_small', "SELECT reltuples FROM pg_class WHERE relname = 'account'")).toBe('3');
  });

  it('follows added relationships, and counts apart the rows that refer to none in the source', async () => {
    const added = {
      fk_table: 'public.loose',
      fk_columns: ['account_no'],
      ref_table: 'public.account',
      ref_columns: 'id',
    };
    const followed = await make('hard', { ...THREE, added_relationships: [added] });
    expect(await ask('hard_small', 'SELECT array_agg(id ORDER BY id) FROM loose')).toBe('{3,4,5}');
    expect(followed.proof.find((row) => row.added)).toMatchObject({ orphans: 0, orphans_in_source: 0 });
    const whole = await make('hard', { copy_tables: ['public.loose'], added_relationships: [added] });
    expect(await ask('hard_small', 'SELECT count(*) FROM account')).toBe('20');
    expect(whole.proof.find((row) => row.added)).toMatchObject({ orphans: 5, orphans_in_source: 5 });
  });

  it('names every mistake of its section at once', async () => {
    const planning = planSubset(
      contextFor('hard', {
        subset_tables: [{ table: 'public.acount', percent: 5 }],
        copy_tables: ['nowhere.table'],
      }),
      { target: 't' },
    );
    await expect(planning).rejects.toMatchObject({
      code: 'subset_invalid',
      exit: 3,
      details: [
        'subset_tables: there is no table public.acount; did you mean public.account?',
        expect.stringContaining('copy_tables: there is no table nowhere.table'),
      ],
    });
    const relationship = { fk_table: 'public.loose', ref_table: 'public.account' };
    const relating = planSubset(
      contextFor('hard', {
        added_relationships: [
          { ...relationship, fk_columns: 'missing', ref_columns: 'id' },
          { ...relationship, fk_columns: 'account_no', ref_columns: 'mail' },
          { ...relationship, fk_columns: 'account_no', ref_columns: 'twice' },
        ],
        excluded_relationships: [{ fk_table: 'public.loose', ref_table: 'public.audit' }],
      }),
      { target: 't' },
    );
    await expect(relating).rejects.toMatchObject({
      details: [
        expect.stringContaining('public.loose has no column missing'),
        expect.stringContaining('account_no is integer and mail is public.citext: they cannot be compared'),
        expect.stringContaining('no primary key or unique index of exactly twice'),
        'excluded_relationships: public.loose has no reference to public.audit',
      ],
    });
  });

  it.each([["mail = 'O'Brien'"], ['no_such_column = 1'], ['id = 1; DROP TABLE account']])(
    'refuses the condition %s with the words of the server, and does not hang',
    async (where) => {
      const planning = planSubset(contextFor('hard', { subset_tables: [{ table: 'public.account', where }] }), {
        target: 't',
        count: true,
      });
      await expect(planning).rejects.toMatchObject({ code: 'subset_invalid', exit: 3 });
    },
  );

  it('makes nullable references to excluded tables null, and refuses those that may not be, with what to write instead', async () => {
    const nullable = await make('hard', {
      copy_tables: ['public.audited'],
      excluded_relationships: [{ fk_table: 'public.audited', ref_table: 'public.account' }],
    });
    expect(await ask('hard_small', 'SELECT count(*), count(account_id), count(noted_by) FROM audited')).toBe('20|0|20');
    expect(nullable.tables.map(({ table }) => table)).toEqual(['public.audit', 'public.audited']);
    const before = await server.databases();
    const refused = make('hard', { ...THREE, excluded_tables: ['public.audit', 'public.nothing'] });
    await expect(refused).rejects.toMatchObject({
      code: 'subset_impossible',
      details: expect.arrayContaining([
        'public.audited (audit_id) must refer to a row of public.audit, which is excluded',
        '  public.audited is included by: public.audited → public.account',
        'excluded_tables:',
        '  - "public.nothing"',
      ]),
    });
    expect(await server.databases()).toEqual(before);
  });

  it('plans with the path of each table, useful indexes and unreachable tables', async () => {
    const { plan } = await planSubset(contextFor('hard', THREE), { target: 't', count: true });
    const row = (name: string) => plan.tables.find(({ table }) => table === name);
    expect(row('public.audit')).toMatchObject({
      rule: 'parent',
      rows_expected: 1,
      path: ['public.audit', '←', 'public.audited', '→', 'public.account'],
    });
    expect(row('public.loose')).toMatchObject({ rule: 'empty', rows_now: 25, rows_expected: 0, path: [] });
    const { bytes_now = 0, bytes_expected } = row('public.measure') ?? {};
    expect(bytes_now).toBe(Number(await ask('hard', "SELECT pg_table_size('measure_1') + pg_table_size('measure_2')")));
    expect(bytes_expected).toBe(Math.round((bytes_now * 60) / 400));
    expect(row('public.loose')).toMatchObject({ bytes_expected: 0 });
    const messages = plan.warnings.map(({ message }) => message).join('\n');
    expect(messages).toContain('CREATE INDEX ON other.letter (mail);');
    expect(messages).toContain('not reachable from the subset tables');
    expect(plan.circles).toEqual([['public.measure']]);
  });

  it('explains why a row is included by the chain of references to a requested row', async () => {
    const explained = async (row: string) =>
      (await explainSubset(contextFor('hard', THREE), { target: 't', row })).chain;
    expect(await explained('public.audit:1')).toEqual([
      { table: 'public.audit', key: '1', why: expect.stringMatching(/^is referred to by/) },
      {
        table: 'public.audited',
        key: expect.stringMatching(/^[345]$/),
        why: expect.stringMatching(/^refers by account_id/),
      },
      { table: 'public.account', key: expect.stringMatching(/^[345]$/), why: "where mail = 'user3@X' OR id IN (4, 5)" },
    ]);
    expect(await explained('public.measure:4,2026-01-15')).toMatchObject([{ key: '4,2026-01-15' }, { key: '4' }]);
    expect(await explained('public.account:7')).toBeNull();
    await expect(explained('public.account:700')).rejects.toMatchObject({ code: 'row_unknown', exit: 2 });
  });

  it('draws the tables and references into a new file, whatever the destination', async () => {
    await using folder = await temporaryFolder();
    const context = contextFor('hard', THREE);
    const draw = (name: string) => writeSubsetGraph(context, { target: 't', file: join(folder.path, name) });
    const result = await draw('out.mmd');
    expect(result).toMatchObject({ target: 't', file: join(folder.path, 'out.mmd'), format: 'mermaid' });
    const text = await readFile(result.file, 'utf8');
    expect(text).toMatch(/^flowchart LR\n {2}t0\["/);
    expect(text.match(/^ {2}t\d+\["/gm)).toHaveLength(result.tables);
    await writeFile(result.file, 'mine');
    await expect(draw('out.mmd')).rejects.toMatchObject({ code: 'file_exists', exit: 5 });
    expect(await readFile(result.file, 'utf8')).toBe('mine');
    expect((await draw('out.MMD')).format).toBe('mermaid');
    await expect(draw('out.svg')).rejects.toMatchObject({
      ...{ code: 'invalid_value', exit: 2 },
      hint: expect.stringContaining('mmdc -i subset.mmd -o subset.svg'),
    });
    await expect(draw('no/out.mmd')).rejects.toMatchObject({ code: 'usage' });
    expect((await readdir(folder.path)).sort()).toEqual(['out.MMD', 'out.mmd']);
  });

  it('takes the same share each time, exactly, and another with another seed', async () => {
    const share = async (seed: number): Promise<string> => {
      await make('hard', { subset_tables: [{ table: 'public.account', percent: 21 }] }, { seed });
      return ask('hard_small', 'SELECT array_agg(id ORDER BY id) FROM account');
    };
    const first = await share(1);
    expect(first.split(',')).toHaveLength(5);
    expect(await share(1)).toBe(first);
    expect(await share(2)).not.toBe(first);
  });

  it('leaves the destination as it was, and no other database, when it is cancelled or fails', async () => {
    await make('hard', THREE);
    const before = { databases: await server.databases(), rows: await server.dump('hard_small') };
    const cancel = new AbortController();
    const context = { ...contextFor('hard', THREE), signal: cancel.signal };
    const planned = await planSubset(context, { target: 't' });
    const cancelled = applySubset(
      {
        ...context,
        report: (event) => event.event === 'step' && event.step === 'index' && cancel.abort(new Error('enough')),
      },
      planned,
    );
    await expect(cancelled).rejects.toThrow('enough');
    expect({ databases: await server.databases(), rows: await server.dump('hard_small') }).toEqual(before);
  });

  it('names the table that its user may not read', async () => {
    const url = new URL(server.url('hard'));
    await server.psql('postgres', { sql: `CREATE ROLE reader LOGIN PASSWORD '${url.password}'` });
    url.username = 'reader';
    const src_url = url.href;
    const planning = planSubset(contextFor('hard', { ...THREE, src_url }), { target: 't' });
    await expect(planning).rejects.toMatchObject({
      code: 'source_unreadable',
      message: expect.stringContaining('permission denied'),
    });
  });

  it('refuses the source as its destination', async () => {
    const planning = planSubset(
      contextFor('hard', { ...THREE, dst_url: server.url('hard').replace('127.0.0.1', 'localhost') }),
      { target: 't' },
    );
    await expect(planning).rejects.toMatchObject({ code: 'destination_is_source', exit: 5 });
  });

  it('a subset of the demo shop is consistent over two schemas, partitions and a cycle, and is stored as a snapshot', async () => {
    const result = await make(
      'shop',
      { subset_tables: [{ table: 'public.customer', percent: 1 }], excluded_tables: ['public.review'] },
      { snapshot: true },
    );
    const rows = new Map(result.tables.map(({ table, rows: count }) => [table, count]));
    const customers = "(SELECT id FROM customer ORDER BY md5(id || ' 1') LIMIT 120)";
    const expected = async (sql: string): Promise<number> => Number(await ask('shop', sql));
    expect(rows.get('public.orders')).toBe(
      await expected(`SELECT count(*) FROM orders WHERE customer_id IN ${customers}`),
    );
    expect(rows.get('billing.payment')).toBe(
      await expected(`SELECT count(*) FROM billing.payment p JOIN billing.invoice i ON i.id = p.invoice_id
        JOIN orders o ON o.id = i.order_id WHERE o.customer_id IN ${customers}`),
    );
    expect(rows.get('public.customer')).toBe(
      await expected(`WITH RECURSIVE c AS (SELECT id, referred_by FROM customer WHERE id IN ${customers}
        UNION SELECT r.id, r.referred_by FROM c JOIN customer r ON r.id = c.referred_by) SELECT count(*) FROM c`),
    );
    expect(rows.has('public.review')).toBe(false);
    expect(result.proof.every(({ orphans }) => orphans === 0)).toBe(true);
    const { snapshots } = await listSnapshots(contextFor('shop', {}), 't');
    expect(snapshots[0]).toMatchObject({ id: result.snapshot?.id, note: 'subset' });
  });
});
