import * as v from 'valibot';
import type { Engine } from '../../engines/engine.ts';
import type { RowFormat } from '../../engines/shared/row-scanner.ts';
import { damaged } from '../../repository/damaged.ts';
import type { LocalRepository } from '../../repository/local-repository.ts';
import {
  bytesOfTable,
  filesOfTable,
  type Manifest,
  type ManifestFile,
  type ManifestTable,
} from '../../repository/manifest.ts';
import type { ObjectToRead } from '../../repository/objects/object-file.ts';
import type { ObjectPool } from '../../repository/objects/object-pool.ts';
import type { Context } from '../../runtime/context.ts';
import { type ColumnDigest, columnName } from '../../sanitize/column-facts.ts';
import { contentOf, type Leaks } from '../../sanitize/coverage.ts';
import type { Suspicion } from '../../sanitize/detector/detect.ts';
import { addBits, addHits, judgeColumn } from '../../sanitize/leaks/judge-column.ts';
import { createLeakThreads, type LeakThreads } from '../../sanitize/leaks/leak-threads.ts';
import type { StoredRows, ValueRound } from '../../sanitize/leaks/leak-worker.ts';
import { type ColumnHits, type Hit, noHits } from '../../sanitize/leaks/search-values.ts';
import { type LeakColumn, tellingBits } from '../../sanitize/leaks/value-class.ts';
import {
  allocateTable,
  type DistinctBits,
  MOST_COLUMNS,
  planRounds,
  scaleFor,
  TELLING,
} from '../../sanitize/leaks/value-table.ts';
import { splitName } from '../../text/table-names.ts';
import { formatOf } from '../snapshots/rows.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';

export interface LeakSearch extends AsyncDisposable {
  /** Finds the tables of the result with the same rows in another order. */
  findReordered(result: Manifest): Promise<Set<string>>;
  /** Searches the stored result; `known` columns are not searched. */
  search(result: Manifest, known: Set<string>, reordered: Set<string>): Promise<Leaks>;
}

export interface LeakSearchOptions {
  engine: Engine;
  repository: LocalRepository;
  original: Manifest;
  suspicions: Suspicion[];
  /** Digests of the suspicious columns before the query. */
  before: Map<string, ColumnDigest>;
  /** Columns that may keep their values: these may be anywhere. */
  kept: Set<string>;
  /** Reports whether the query names a table; others are likely to stay as they are, and are searched meanwhile. */
  isNamed: (table: string) => boolean;
  cpus: number;
  pool: ObjectPool;
}

/** Begins to collect the personal values of the original, so that its result can be searched for them. */
export function startLeakSearch(context: Context, options: LeakSearchOptions): LeakSearch {
  const { engine, repository, original, cpus, pool } = options;
  const bytes = original.tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  const threads = createLeakThreads(Math.min(cpus, Math.ceil(bytes / BYTES_OF_THREAD) || 1), context.signal);
  const stored = storedRows(options);
  const sources = sourcesOf(options);
  const names = [...sources.keys()];
  const originalColumns = columnsByTable(original);
  const byPosition = ({ name }: ManifestTable): (LeakColumn | null)[] =>
    (originalColumns.get(name) ?? []).map((column) => sources.get(column) ?? null);
  const personal = original.tables.filter((table) => byPosition(table).some((source) => source !== null));
  const expected = [...sources.values()].reduce((sum, source) => sum + source.values * (source.hasParts ? 4 : 1), 0);
  const plan = planRounds(expected);
  const memory = allocateTable(plan.slots);
  let { rounds } = plan;
  const own = new Map<number, DistinctBits>();
  let isEmpty = true;

  /** `false` when the memory is too small for the values of a round. */
  async function collect(round: number): Promise<boolean> {
    // Untouched pages take no memory.
    if (!isEmpty) new Uint8Array(memory.buffer).fill(0);
    isEmpty = false;
    for (const table of personal) {
      const rows = stored(original, table);
      const task = { task: 'collect', rows, sources: byPosition(table), values: { memory, round, rounds } } as const;
      const { isFull, distinct } = await reading(original, table.file, threads.run(task, 'collected'));
      if (isFull) return false;
      for (const [id, bits] of distinct) own.set(id, addBits(own.get(id), bits));
    }
    return true;
  }

  async function collectRound(round: number): Promise<boolean> {
    if (await collect(round)) return true;
    own.clear();
    rounds *= 2;
    return false;
  }

  const first = sources.size === 0 ? Promise.resolve(true) : collectRound(0);
  first.catch(() => {});

  /** Tables that are the same in the result, by their content. */
  const early = new Map<string, Promise<ColumnHits[]>>();
  let isEarly = true;
  const meanwhile = searchEarly();
  meanwhile.catch(() => {});

  async function searchEarly(): Promise<void> {
    if (sources.size === 0 || !(await first) || rounds > 1) return;
    const known = new Set(sources.keys());
    for (const table of original.tables.filter(({ name }) => !options.isNamed(name))) {
      if (!isEarly) return;
      const columns = originalColumns.get(table.name) ?? [];
      const search = searchTable(original, table, { columns, known, values: ONE_ROUND });
      early.set(contentOf(table), search);
      await search;
    }
  }

  async function searchTable(
    manifest: Manifest,
    table: ManifestTable,
    { columns, known, values }: { columns: string[]; known: Set<string>; values: Pick<ValueRound, 'round' | 'rounds'> },
  ): Promise<ColumnHits[]> {
    const wanted = columns.map((name) => (known.has(name) ? null : { scale: sources.get(name)?.scale ?? 1 }));
    if (wanted.every((column) => column === null)) return [];
    const rows = stored(manifest, table);
    const task = { task: 'search rows', rows, columns: wanted, values: { memory, ...values } } as const;
    const { hits } = await reading(manifest, table.file, threads.run(task, 'searched'));
    return hits;
  }

  async function searchAll(result: Manifest, known: Set<string>): Promise<Map<string, ColumnHits>> {
    let isCollected = await first;
    while (true) {
      const all = new Map<string, ColumnHits>();
      let round = 0;
      for (; round < rounds; round += 1) {
        if (!(round === 0 && isCollected) && !(await collectRound(round))) break;
        const found = await searchRound(result, known, { memory, round, rounds });
        for (const [name, hits] of found) merge(all, { name, hits, isOtherPart: false });
      }
      if (round === rounds) return all;
      isCollected = false;
    }
  }

  interface TableSearch {
    tables: ManifestTable[];
    columnsOf: Map<string, string[]>;
    known: Set<string>;
    values: Pick<ValueRound, 'round' | 'rounds'>;
  }

  async function searchTables(manifest: Manifest, search: TableSearch): Promise<Map<string, ColumnHits>> {
    const all = new Map<string, ColumnHits>();
    await Promise.all(
      search.tables.map(async (table) => {
        const columns = search.columnsOf.get(table.name) ?? [];
        const isSame = JSON.stringify(columns) === JSON.stringify(originalColumns.get(table.name));
        const found = isSame && search.values.rounds === 1 ? early.get(contentOf(table)) : undefined;
        const hits = await (found ?? searchTable(manifest, table, { ...search, columns }));
        // Partitions are parts of their table.
        for (const [at, name] of columns.entries()) merge(all, { name, hits: hits[at] ?? noHits(), isOtherPart: true });
      }),
    );
    return all;
  }

  async function searchRound(
    result: Manifest,
    known: Set<string>,
    values: ValueRound,
  ): Promise<Map<string, ColumnHits>> {
    const all = await searchTables(result, { tables: result.tables, columnsOf: columnsByTable(result), known, values });
    const contents = result.files.filter(({ name }) => !DEFINITIONS.test(name)).map((file) => repository.object(file));
    if (contents.length > 0) {
      const task = { task: 'search contents', files: contents, values } as const;
      const { hits } = await threads.run(task, 'searched');
      merge(all, { name: LARGE_OBJECTS, hits: hits[0] ?? noHits(), isOtherPart: true });
    }
    const definitions = await readDefinitions(context, { engine, repository, pool, result });
    const texts = definitions.map(({ text }) => text);
    const { hits } = await threads.run({ task: 'search texts', texts, values }, 'searched');
    for (const [at, { name }] of definitions.entries()) {
      const found = hits[at] ?? noHits();
      // Words of a program are words of the language.
      const telling = found.counts[TELLING];
      merge(all, { name, hits: { ...found, counts: [0, 0, 0, 0, telling] }, isOtherPart: true });
    }
    return all;
  }

  return {
    async findReordered(result) {
      isEarly = false;
      return await findReordered(threads, { repository, original, result });
    },
    async search(result, known, reordered) {
      if (sources.size === 0) return { found: [], common: [] };
      const all = await searchAll(result, known);
      const columnsOf = columnsByTable(result);
      const unchanged = new Set(
        unchangedTables(original, result, reordered).flatMap(({ name }) => columnsOf.get(name) ?? []),
      );
      const present = new Set([...originalColumns.values()].flat());
      const judge = (name: string, hits: ColumnHits, earlier: Map<string, ColumnHits> | null) => {
        const source = sources.get(name);
        const before = unchanged.has(name) ? 'same' : !present.has(name) ? null : (earlier?.get(name) ?? 'unknown');
        return judgeColumn({ hits, own: source ? (own.get(source.id) ?? null) : null, before });
      };
      const undecided = new Set(
        [...all].filter(([name, hits]) => judge(name, hits, null).verdict === 'undecided').map(([name]) => name),
      );
      const earlier = undecided.size === 0 ? null : await searchEarlier(undecided);
      const judged = [...all].map(([column, hits]) => ({ column, hits, verdict: judge(column, hits, earlier) }));
      const isConfirmed = await confirm(
        judged.flatMap(({ hits, verdict }) => (verdict.verdict === 'found' ? hits.hits : [])),
      );
      const leaks: Leaks = { found: [], common: [] };
      for (const { column, hits, verdict } of judged) {
        if (verdict.verdict !== 'found' && verdict.verdict !== 'common') continue;
        if (verdict.verdict === 'found' && !hits.hits.some(isConfirmed)) continue;
        const from = [...hits.from].toSorted(([, a], [, b]) => b - a).map(([id]) => names[id] ?? '');
        leaks[verdict.verdict].push({
          ...{ column, values: hits.values, count: Math.min(verdict.count, hits.values) },
          from: from.slice(0, MOST_FROM),
          samples: hits.hits.filter(isConfirmed).flatMap(({ text }) => text ?? []),
        });
      }
      return leaks;
    },
    async [Symbol.asyncDispose]() {
      isEarly = false;
      await threads[Symbol.asyncDispose]();
      await Promise.allSettled([first, meanwhile]);
    },
  };

  /** Searches the columns before the query; with several rounds, the last one is enough to compare. */
  async function searchEarlier(columns: Set<string>): Promise<Map<string, ColumnHits>> {
    const columnsIn = ({ name }: ManifestTable): string[] => originalColumns.get(name) ?? [];
    const tables = original.tables.filter((table) => columnsIn(table).some((name) => columns.has(name)));
    const known = new Set(tables.flatMap(columnsIn).filter((name) => !columns.has(name)));
    const all = new Map<string, ColumnHits>();
    for (let round = 0; round < rounds; round += 1) {
      if (rounds > 1) await collect(round);
      const values = { round, rounds };
      const found = await searchTables(original, { tables, columnsOf: originalColumns, known, values });
      for (const [name, hits] of found) merge(all, { name, hits, isOtherPart: false });
    }
    return all;
  }

  /** Compares the texts with those of the original: two texts may have one digest by chance. */
  async function confirm(hits: Hit[]): Promise<(hit: Hit) => boolean> {
    const known = hits.filter(({ text }) => text !== null);
    const ids = new Set(known.map(({ source }) => source));
    const texts = new Map<string, Set<string>>();
    for (const table of personal) {
      const columns = byPosition(table).map((source) => (source && ids.has(source.id) ? source : null));
      if (columns.every((source) => source === null)) continue;
      const task = { task: 'texts', rows: stored(original, table), sources: columns, wanted: known } as const;
      const { texts: read } = await threads.run(task, 'texts');
      for (const [key, found] of read) texts.set(key, new Set([...(texts.get(key) ?? []), ...found]));
    }
    return ({ first, second, text }) =>
      text === null || [...(texts.get(`${first} ${second}`) ?? [])].some((one) => one.startsWith(text));
  }

  async function reading<Result>(manifest: Manifest, file: ManifestFile, work: Promise<Result>): Promise<Result> {
    return await work.catch((cause) => {
      context.signal.throwIfAborted();
      throw damaged({ manifest, file, state: 'Nothing was published.', cause });
    });
  }
}

/** The start of a thread costs as much as a few megabytes. */
const BYTES_OF_THREAD = 32 * 1024 * 1024;
const ONE_ROUND = { round: 0, rounds: 1 };
const LARGE_OBJECTS = 'pg_catalog.pg_largeobject.data';
/** Read as statements; the lists of large objects hold numbers. */
const DEFINITIONS = /^(?:toc\.dat|definitions\.json|blobs(?:_\d+)?\.toc)$/;
const MOST_FROM = 3;

type CountedSource = LeakColumn & { values: number };

function sourcesOf({ suspicions, before, kept }: LeakSearchOptions): Map<string, CountedSource> {
  const sources = new Map<string, CountedSource>();
  const counted = suspicions.map(({ facts }) => before.get(columnName(facts))?.values ?? 0);
  const bits = tellingBits(counted.reduce((sum, values) => sum + values, 0));
  for (const [at, { facts, kind }] of suspicions.entries()) {
    const name = columnName(facts);
    const values = counted[at] ?? 0;
    if (kept.has(name) || values === 0 || sources.size === MOST_COLUMNS) continue;
    const { family, sampled, distinct } = facts;
    sources.set(name, {
      id: sources.size,
      kind,
      isDate: family === 'date' || family === 'time',
      repeats: sampled >= REPEATS_FROM && distinct < REPEATS_SHARE * sampled,
      hasParts: family === 'document' || kind === 'free_text',
      tellingBits: bits,
      scale: scaleFor(values),
      values,
    });
  }
  return sources;
}

const REPEATS_FROM = 20;
const REPEATS_SHARE = 0.1;

function storedRows({ repository }: LeakSearchOptions): (manifest: Manifest, table: ManifestTable) => StoredRows {
  return (manifest, table) => ({ files: objectsOf(repository, table), format: formatOf(manifest) satisfies RowFormat });
}

function objectsOf(repository: LocalRepository, table: ManifestTable): ObjectToRead[] {
  return filesOfTable(table).map((file) => repository.object(file));
}

const dataSchema = v.record(
  v.string(),
  v.object({
    columns: v.array(v.string()),
    root: v.optional(v.object({ schema: v.string(), table: v.string() })),
  }),
);

/** The columns of stored rows as `schema.table.column`; those of a partition are its table's. */
function columnsByTable({ details, tables }: Manifest): Map<string, string[]> {
  const data = v.parse(v.optional(dataSchema, {}), details.data);
  return new Map(
    tables.map(({ name, file }) => {
      const { columns = [], root } = data[file.name] ?? {};
      const { schema, rest } = splitName(name);
      const owner = { schema: root?.schema ?? schema, table: root?.table ?? rest };
      return [name, columns.map((column) => columnName({ ...owner, column }))];
    }),
  );
}

interface FoundHits {
  name: string;
  hits: ColumnHits;
  isOtherPart: boolean;
}

function merge(into: Map<string, ColumnHits>, { name, hits, isOtherPart }: FoundHits): void {
  const known = into.get(name);
  if (known) addHits(known, hits, isOtherPart);
  else into.set(name, hits);
}

interface ComparisonRequest {
  repository: LocalRepository;
  original: Manifest;
  result: Manifest;
}

/** Tables whose objects differ but hold the same rows: the server has read them in another order. */
async function findReordered(
  threads: LeakThreads,
  { repository, original, result }: ComparisonRequest,
): Promise<Set<string>> {
  const before = new Map(original.tables.map((table) => [table.name, table]));
  const reordered = new Set<string>();
  await Promise.all(
    result.tables.map(async (table) => {
      const old = before.get(table.name);
      if (!old || old.rows !== table.rows || table.rows < 2 || contentOf(old) === contentOf(table)) return;
      if (bytesOfTable(old) !== bytesOfTable(table) || filesOfTable(old).length !== filesOfTable(table).length) return;
      const [one, other] = await Promise.all(
        [old, table].map((each) => threads.run({ task: 'sum', files: objectsOf(repository, each) }, 'sum')),
      );
      if (one?.sum === other?.sum) reordered.add(table.name);
    }),
  );
  return reordered;
}

function unchangedTables(original: Manifest, result: Manifest, reordered: Set<string>): ManifestTable[] {
  const before = new Map(original.tables.map((table) => [table.name, contentOf(table)]));
  return result.tables.filter((table) => reordered.has(table.name) || before.get(table.name) === contentOf(table));
}

interface Definitions {
  engine: Engine;
  repository: LocalRepository;
  pool: ObjectPool;
  result: Manifest;
}

async function readDefinitions(context: Context, { engine, repository, pool, result }: Definitions) {
  const read = snapshotReader({
    manifest: result,
    repository,
    pool,
    signal: context.signal,
    state: 'Nothing was published.',
  });
  return await engine.readDefinitions({ manifest: result, read });
}
