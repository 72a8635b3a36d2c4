import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { engineOf } from '../../src/engines/registry.ts';
import { planBranchCreate } from '../../src/operations/branch/create/create.ts';
import { build } from '../../src/operations/build/build.ts';
import { planLoad } from '../../src/operations/load/load.ts';
import { searchCanaries } from '../../src/operations/sanitize/canaries/search-canaries.ts';
import { checkLedger } from '../../src/operations/sanitize/ledger/check.ts';
import { classify } from '../../src/operations/sanitize/ledger/classify.ts';
import { assertPublishable } from '../../src/operations/sanitize/ledger/ledger-gate.ts';
import { answerItem, reviewLedger } from '../../src/operations/sanitize/ledger/review.ts';
import { applySanitize, planSanitize, type SanitizeRequest } from '../../src/operations/sanitize/sanitize.ts';
import { assertNoOriginalData } from '../../src/operations/snapshots/sanitized-only.ts';
import { findSnapshot, type SnapshotRequest } from '../../src/operations/snapshots/snapshots.ts';
import { exportSnapshot } from '../../src/operations/snapshots/transfer/export.ts';
import { push } from '../../src/operations/snapshots/transfer/push.ts';
import type { CanaryReport } from '../../src/results/review/ledger-results.ts';
import type { Context } from '../../src/runtime/context.ts';
import { updateLedger } from '../../src/sanitize/ledger/ledger-file.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../helpers/random.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { MASK, schemaChange, weakQuery, wideTables } from './ledger-changes.ts';
import type { SanitizerServer } from './sanitizer.ts';

const LIMIT = 240_000;
const FULL_LIMIT = 3_600_000;
const PERSONS = 3;
const SHARED = { why: 'is an original', hint: 'Push it elsewhere' };
const CHANGES_AT_ONCE = 25;

export interface LedgerRounds {
  schemaChanges: number;
  weakQueries: number;
  rebuilds: number;
}

interface Change {
  query?: string[];
  sanitize?: object;
  /** Settings of the target, and of other targets. */
  more?: object;
  others?: object;
}

/** What a ledger and canaries guarantee on every engine; called inside a `describe`. */
export function ledgerContract(start: () => Promise<SanitizerServer>, rounds: LedgerRounds): void {
  const server = suiteResource(() => start());
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  /** `public.` where tables have a schema. */
  let prefix: string;
  let isPostgres: boolean;
  const name = (rest: string): string => `${prefix}${rest}`;

  beforeAll(async () => {
    isPostgres = server.schema === 'public';
    prefix = isPostgres ? 'public.' : '';
  }, LIMIT);

  beforeEach(async () => {
    await folder?.[Symbol.asyncDispose]();
    folder = await temporaryFolder();
    for (const name of ['repository', 'team']) await mkdir(join(folder.path, name));
    for (const database of ['source', 'clean', 'clean.tool-undo', 'copy']) await server.dropDatabase(database);
    await server.createDatabase('source');
    const { numbers } = server;
    const [type, state] = isPostgres
      ? [["CREATE TYPE state AS ENUM ('new', 'paid')"], 'state']
      : [[], "enum('new','paid')"];
    await server.run(
      'source',
      ...type,
      `CREATE TABLE person (id integer PRIMARY KEY, first_name varchar(80), email varchar(120) NOT NULL UNIQUE,
        note varchar(200), phone bigint, born date)`,
      `INSERT INTO person SELECT i, concat('Ada', i), concat('secret-', i, '@real.example.org'), 'likes tea', 49301000 + i, '1980-05-06' FROM ${numbers(60)}`,
      `CREATE TABLE purchase (id integer PRIMARY KEY, person_id integer NOT NULL, state ${state} NOT NULL, FOREIGN KEY (person_id) REFERENCES person (id))`,
      `INSERT INTO purchase SELECT i, i, 'new' FROM ${numbers(60)}`,
      'CREATE TABLE event (id integer PRIMARY KEY, payload json)',
      `INSERT INTO event SELECT i, concat('{"user": {"mail": "u', i, '@real.example.org"}, "kind": "visit"}')${isPostgres ? '::json' : ''} FROM ${numbers(40)}`,
      'CREATE TABLE never_filled (id integer PRIMARY KEY, remark varchar(40))',
      'CREATE VIEW mailing AS SELECT email FROM person',
    );
  }, LIMIT);

  afterAll(async () => {
    await folder?.[Symbol.asyncDispose]();
  });

  const ledgerFile = (): string => join(folder.path, 'repository', 'sanitize.lock.yml');

  async function contextOf({ query = MASK, sanitize = {}, more = {}, others = {} }: Change = {}): Promise<Context> {
    const file = join(folder.path, 'repository', 'query.sql');
    await writeFile(file, query.map((statement) => `${statement};\n`).join(''));
    const target = {
      snapshot: {
        ...{ src_url: server.url('source'), dst_url: server.url('copy') },
        ...(isPostgres && { schema_config: { use_default_schema: false } }),
      },
      sanitize: { dst_url: server.url('clean'), query_file: file, require_classified: true, ...sanitize },
    };
    const own = { working_directory: join(folder.path, 'work'), targets: { app: { ...target, ...more }, ...others } };
    return testContext({
      settings: { ...own, storage_profiles: { team: { provider: 'folder', path: join(folder.path, 'team') } } },
    });
  }

  async function sanitize(context: Context, request: Partial<SanitizeRequest> = {}) {
    return applySanitize(context, await planSanitize(context, { target: 'app', ...request }));
  }

  const edit = async (change: (text: string) => string): Promise<void> =>
    writeFile(ledgerFile(), change(await readFile(ledgerFile(), 'utf8')));

  /** Builds, and classifies all columns: those that the first ledger leaves open are kept. */
  async function classified(change?: Change): Promise<Context> {
    const context = await contextOf(change);
    await build(context, { target: 'app' });
    await classify(context, { target: 'app' });
    await edit((text) => text.replaceAll(/: open$/gm, ': { kept: no personal data }'));
    await classify(context, { target: 'app' });
    return context;
  }

  const opened = async (context: Context): Promise<string[]> =>
    (await checkLedger(context, { target: 'app' })).open.map(({ name: open }) => open);

  it(
    'the first ledger has the query, the detector and the empty tables, and a second one is the same',
    async () => {
      const context = await contextOf();
      await build(context, { target: 'app' });
      const { open } = await classify(context, { target: 'app' });
      const text = await readFile(ledgerFile(), 'utf8');
      const lines = text
        .split('\n')
        .slice(5)
        .map((line) => line.trim().replace(prefix, ''));
      expect(lines).toEqual([
        'event.id: open',
        'event.payload: changed',
        'event.payload->kind: open',
        'never_filled.id: excluded',
        'never_filled.remark: excluded',
        'person.born: changed',
        'person.email: changed',
        'person.first_name: changed',
        'person.id: open',
        'person.note: changed',
        'person.phone: changed',
        'purchase.id: open',
        'purchase.person_id: open',
        'purchase.state: open',
        '',
      ]);
      expect(open).toHaveLength(6);
      const review = await reviewLedger(context, { target: 'app' });
      expect(await readFile(ledgerFile(), 'utf8')).toBe(text);
      expect(review.open.map((item) => item.name)).toEqual(open.map((item) => item.name));
      const found = (of: string) => review.open.find((item) => item.name === name(of));
      expect(found('event.payload->kind')).toMatchObject({ samples: ['v****'], valuesLeft: 40, rows: 40 });
      expect(found('purchase.state')).toMatchObject({ values: ['new', 'paid'], rows: 60 });
      const person = Object.fromEntries((review.tables.get(name('person')) ?? []).map((of) => [of.column, of.state]));
      expect(person).toMatchObject({ id: 'open', email: 'changed', phone: 'changed' });
      await answerItem(context, {
        ...{ target: 'app', name: name('purchase.id') },
        ...{ entry: { state: 'kept', reason: 'a: key' }, replaces: { state: 'open' } },
      });
      expect(await readFile(ledgerFile(), 'utf8')).toBe(text.replace(/(purchase\.id): open/, '$1: { kept: "a: key" }'));
    },
    LIMIT,
  );

  it(
    'publishes nothing without a ledger, with an open or missing entry, and with one that is not true',
    async () => {
      const context = await contextOf();
      await build(context, { target: 'app' });
      const refused = async (details: string[]): Promise<void> => {
        const error: unknown = await sanitize(context).catch((thrown) => thrown);
        expect(error).toMatchObject({ code: 'unclassified' });
        const given = (error as { details: string[] }).details.map((detail) => detail.replace(prefix, ''));
        expect(given).toEqual(expect.arrayContaining(details.map((detail) => expect.stringContaining(detail))));
      };
      await refused(['person.note (']);
      await classified();
      await sanitize(context);
      const { manifest } = await findSnapshot(context, { target: 'app' });
      const push = (pushed: Partial<typeof manifest>, sanitized = true): Promise<void> =>
        assertPublishable(context, { manifest: { ...manifest, ...pushed }, sanitized, original: SHARED });
      await push({});
      const { classified: entries = [], ...unclassified } = manifest;
      expect(entries.length).toBeGreaterThan(10);
      await expect(push({ classified: [...entries, { name: 'x', state: 'kept' }] })).rejects.toMatchObject({
        code: 'unclassified',
      });
      for (const foreign of [[], entries.slice(1)]) {
        await expect(push({ classified: foreign })).rejects.toMatchObject({ code: 'unclassified' });
      }
      const bare = assertPublishable(context, { manifest: unclassified, sanitized: true });
      await expect(bare).rejects.toMatchObject({ code: 'unclassified' });
      await expect(push({}, false)).rejects.toMatchObject({ code: 'unclassified' });
      const text = await readFile(ledgerFile(), 'utf8');
      for (const [line, instead, why] of [
        ['purchase.id: { kept: no personal data }', 'purchase.id: open', 'is not classified'],
        ['event.payload->kind: { kept: no personal data }', 'purchase."other": open', 'is not classified'],
        ['person.id: { kept: no personal data }', 'person.id: changed', 'values are unchanged'],
        ['person.id: { kept: no personal data }', 'person.id: empty', 'has values'],
        ['person.id: { kept: no personal data }', 'person.id: excluded', 'its table has rows'],
        ['event.payload->kind: { kept: no personal data }', 'event.payload->kind: changed', 'values are unchanged'],
        ['values: [ new, paid ]', 'values: [ new ]', 'not in the ledger: paid'],
      ] as const) {
        expect(text).toContain(line);
        await writeFile(ledgerFile(), text.replace(line, instead));
        await refused([why]);
      }
      await writeFile(ledgerFile(), text.replace(/(purchase\.id): .*/, '$1: changed'));
      await contextOf({ query: [...MASK, 'DELETE FROM purchase WHERE id = 1'] });
      await refused(['values are unchanged']);
      await writeFile(ledgerFile(), 'version: 1\ntargets: [');
      await expect(sanitize(context)).rejects.toMatchObject({ code: 'ledger_unreadable' });
    },
    LIMIT,
  );

  it(
    'hands a sanitized snapshot out in no way while the ledger lacks an entry, and an original as such only',
    async () => {
      await classified();
      const others = { readers: { share: { storage_profile_name: 'team', dst_url: server.url('copy') } } };
      const context = await contextOf({ more: { storage_profile: 'team' }, others });
      const agent = { ...context, sanitizedOnly: true };
      await sanitize(context);
      const present = async () => (await findSnapshot(context, { target: 'app' })).row.id;
      const files: string[] = [];
      const toFile = (request: Partial<SnapshotRequest> = {}) =>
        exportSnapshot(context, { target: 'app', file: join(folder.path, `${files.push('')}.zip`), ...request });
      const ways: Record<string, () => Promise<unknown>> = {
        sanitize: () => sanitize(context),
        push: () => push(context, { target: 'app' }),
        export: () => toFile(),
        'load of an agent': () => planLoad(agent, { target: 'app' }),
        'branch of an agent': () => planBranchCreate(agent, { target: 'app', name: 'a' }),
        'present branch, save, changes and reset of an agent': () =>
          present().then((id) => assertNoOriginalData(agent, 'app', id)),
      };
      for (const [way, handOut] of Object.entries(ways)) await expect(handOut(), way).resolves.not.toThrow();
      const text = await readFile(ledgerFile(), 'utf8');
      await edit((before) => before.replace(/^.*purchase\.id:.*\n/m, ''));
      for (const [way, handOut] of Object.entries(ways))
        await expect(handOut(), way).rejects.toMatchObject({ code: 'unclassified' });
      await writeFile(ledgerFile(), text);
      await expect(push(context, { target: 'app', original: true })).rejects.toMatchObject({ code: 'unclassified' });
      await build(context, { target: 'app', push: false });
      await expect(toFile()).rejects.toMatchObject({ code: 'unclassified' });
      expect((await toFile({ original: true })).snapshot.sanitized).toBe(false);
    },
    LIMIT,
  );

  it(
    'a key that a document has for the first time is refused, and one that the query removes is not',
    async () => {
      const query = MASK.filter((statement) => !statement.includes('payload'));
      const hides = isPostgres ? "(payload::jsonb - 'user')::json" : "JSON_REMOVE(payload, '$.user')";
      const context = await classified({ query: [...query, `UPDATE event SET payload = ${hides}`] });
      await sanitize(context);
      await server.run(
        'source',
        `UPDATE event SET payload = '{"kind": "visit", "extra": [{"a.b": {"x": 1}}]}' WHERE id = 7`,
      );
      await build(context, { target: 'app' });
      await expect(sanitize(context)).rejects.toMatchObject({
        code: 'unclassified',
        details: ['extra', 'extra->"a.b"'].map(
          (key) => `${name('event.payload')}->${key} (JSON key) is not classified`,
        ),
      });
      await edit((text) =>
        text.replace(/^.*payload->kind.*$/m, (line) => `${line}\n    ${name('event.payload')}->*: { kept: reviewed }`),
      );
      await sanitize(context);
    },
    LIMIT,
  );

  it(
    'sanitizes and builds again without a false stop',
    async () => {
      const context = await classified();
      for (let round = 0; round < rounds.rebuilds; round += 1) {
        await server.run(
          'source',
          `INSERT INTO event VALUES (${1000 + round}, '{"kind": "visit", "user": {"mail": "x"}}')`,
        );
        const result = await sanitize(context, { build: {} });
        expect(result.snapshot.sanitized).toBe(true);
      }
    },
    FULL_LIMIT,
  );

  it(
    'check finds exactly what random changes of the schema add, from the catalog',
    async () => {
      await server.run('source', ...wideTables());
      const context = await classified();
      expect(await opened(context)).toEqual([]);
      const isFolded = !isPostgres && (await server.value('source', 'SELECT @@lower_case_table_names')) === '1';
      const changing = { random: randomFrom(41), isPostgres, isFolded };
      let columns = 0;
      for (let round = 0; round < rounds.schemaChanges; round += CHANGES_AT_ONCE) {
        const changes = Array.from({ length: CHANGES_AT_ONCE }, (_, at) => schemaChange(round + at, changing));
        await server.run('source', ...changes.flatMap(({ statements }) => statements));
        const expected = [...new Set(changes.flatMap(({ opens }) => opens))].sort();
        const startedAt = performance.now();
        const { open } = await checkLedger(context, { target: 'app' });
        expect(performance.now() - startedAt, '2,000 columns').toBeLessThan(2000);
        expect(open.map((item) => item.name).sort()).toEqual(expected);
        columns += expected.length;
        if (round === 0) {
          const copied = await checkLedger(context, { target: 'app', url: server.url('source') });
          expect(copied.open).toEqual(open);
          await build(context, { target: 'app' });
          await expect(sanitize(context)).rejects.toMatchObject({ code: 'unclassified' });
        }
        await updateLedger({ configuration: context.configuration, target: 'app' }, (before) => {
          const after = new Map(before);
          const values = changes.map((_, at) => `v${round + at}`);
          for (const { name: item } of open) {
            after.set(item, { state: 'kept', reason: 'x', values: [...(before.get(item)?.values ?? []), ...values] });
          }
          return after;
        });
        expect(await opened(context)).toEqual([]);
      }
      expect(columns).toBeGreaterThanOrEqual(rounds.schemaChanges * 0.9);
    },
    FULL_LIMIT,
  );

  it(
    'check applies a migration to a throw-away copy, and the source stays as it is',
    async () => {
      const context = await classified();
      const migration = join(folder.path, 'new.sql');
      await writeFile(migration, 'ALTER TABLE person ADD COLUMN notes varchar(40);');
      const { open } = await checkLedger(context, { target: 'app', migration });
      expect(open).toEqual([expect.objectContaining({ name: name('person.notes'), why: 'unclassified' })]);
      expect(await opened(context)).toEqual([]);
    },
    LIMIT,
  );

  it(
    'finds the marks of canaries that a weak query leaves, wherever they are, and none of a strict query',
    async () => {
      const context = await classified();
      const { manifest } = await findSnapshot(context, { target: 'app', snapshot: 0, original: true });
      const search = async (query: string[], within = context): Promise<CanaryReport> => {
        const statements = await engineOf(manifest.engine).splitQuery(query.map((one) => `${one};`).join('\n'));
        const work = { target: 'app', manifest, statements, keep: [], cpus: 1, allowSuperuser: false };
        return searchCanaries(within, { ...work, persons: PERSONS, strict: false });
      };
      const strict = await search(MASK);
      expect(strict.survived.filter(({ kept }) => !kept)).toEqual([]);
      expect(strict.columns).toBeGreaterThanOrEqual(6);
      const asking = { random: randomFrom(7), isPostgres };
      for (let round = 0; round < rounds.weakQueries; round += 1) {
        const { query, columns } = weakQuery(round, asking);
        const survived = (await search(query)).survived.filter(({ kept }) => !kept);
        expect(survived.map(({ column }) => column).sort(), query.join('\n')).toEqual(columns.map(name).sort());
        for (const { marks } of survived) expect(marks, query.join('\n')).toBeGreaterThanOrEqual(PERSONS);
      }
      // Without `require_classified` nothing compares such an entry with the result.
      const { query, columns } = weakQuery(0, { random: randomFrom(7), isPostgres });
      const entries = columns.map((column) => `${name(column)}: empty`).join(', ');
      await writeFile(ledgerFile(), `version: 1\ntargets: { app: { ${entries} } }\n`);
      const { survived } = await search(query, await contextOf({ sanitize: { require_classified: false } }));
      expect(survived.filter(({ kept }) => !kept).map(({ column }) => column)).toEqual(
        expect.arrayContaining(columns.map(name)),
      );
    },
    FULL_LIMIT,
  );

  it(
    'refuses to publish while canaries survive, and stores none of them',
    async () => {
      const context = await classified({
        query: [...MASK, "UPDATE person SET note = concat('was ', phone) WHERE id > 1000000"],
      });
      const published = await sanitize(context, { canaries: 2 });
      expect(published.canaries).toMatchObject({ persons: 2 });
      expect(await server.value('clean', 'SELECT count(*) FROM person')).toBe('60');
      await expect(sanitize(context, { canaries: 1001 })).rejects.toMatchObject({ code: 'invalid_value' });
      const leaving = await contextOf({
        query: [
          ...MASK.slice(1),
          "UPDATE person SET email = concat('p', id, '@example.com'), first_name = 'x', note = NULL, phone = id, born = '2000-01-01' WHERE id < 61",
        ],
      });
      await expect(sanitize(leaving, { canaries: 2 })).rejects.toMatchObject({ code: 'canaries_survived' });
    },
    LIMIT,
  );
}
