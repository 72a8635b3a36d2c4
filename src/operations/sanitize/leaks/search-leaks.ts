import type { Engine } from '../../../engines/engine.ts';
import { damaged } from '../../../repository/damaged.ts';
import type { LocalRepository } from '../../../repository/local-repository.ts';
import {
  bytesOfTable,
  type Manifest,
  type ManifestFile,
  type ManifestTable,
} from '../../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../../repository/objects/object-pool.ts';
import type { Context } from '../../../runtime/context.ts';
import { contentOf, type Leaks } from '../../../sanitize/coverage.ts';
import { addBits, judgeColumn, mergeHits } from '../../../sanitize/leaks/judge-column.ts';
import { createLeakThreads, type LeakThreads } from '../../../sanitize/leaks/leak-threads.ts';
import type { StoredRows, ValueRound } from '../../../sanitize/leaks/leak-worker.ts';
import { type ColumnHits, type Hit, noHits } from '../../../sanitize/leaks/search-values.ts';
import type { LeakColumn } from '../../../sanitize/leaks/value-class.ts';
import { allocateTable, type DistinctBits, planRounds, TELLING } from '../../../sanitize/leaks/value-table.ts';
import { LARGE_OBJECTS_ITEM } from '../../../sanitize/ledger/ledger-item.ts';
import { formatOf } from '../../snapshots/rows/rows.ts';
import { snapshotReader } from '../../snapshots/snapshot-reader.ts';
import { carriedOverItem } from '../carried-over.ts';
import { isDefinition } from './definition-files.ts';
import { type CountedSource, columnsByTable, type LeakSourceOptions, rowColumns, sourcesOf } from './leak-sources.ts';
import { findReordered, objectsOf, unchangedTables } from './unchanged-tables.ts';

export interface LeakSearchOptions extends LeakSourceOptions {
  engine: Engine;
  repository: LocalRepository;
  original: Manifest;
  /** Reports whether the query names a table; others are likely to stay as they are, and are searched meanwhile. */
  isNamed: (table: string) => boolean;
  cpus: number;
  pool: ObjectPool;
}

/** Collects the personal values of the original, so that its result can be searched for them. */
export class LeakSearch implements AsyncDisposable {
  readonly #context: Context;
  readonly #options: LeakSearchOptions;
  readonly #threads: LeakThreads;
  readonly #sources: Map<string, CountedSource>;
  readonly #originalColumns: Map<string, string[]>;
  /** Tables of the original with a column that is searched for. */
  readonly #personal: ManifestTable[];
  readonly #memory: ReturnType<typeof allocateTable>;
  #rounds: number;
  #isEmpty = true;
  readonly #own = new Map<number, DistinctBits>();
  /** The values of the first round; resolves with `false` when the memory is too small for them. */
  readonly #first: Promise<boolean>;
  /** Hits in tables that are likely to be the same in the result, by their content. */
  readonly #early = new Map<string, Promise<ColumnHits[]>>();
  readonly #searchingEarly: Promise<void>;
  #isEarly = true;

  constructor(context: Context, options: LeakSearchOptions) {
    const { original, cpus } = options;
    const bytes = original.tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
    this.#context = context;
    this.#options = options;
    this.#threads = createLeakThreads(Math.min(cpus, Math.ceil(bytes / BYTES_OF_THREAD) || 1), context.signal);
    this.#sources = sourcesOf(options);
    this.#originalColumns = rowColumns(original, options.columns);
    this.#personal = original.tables.filter((table) => this.#sourcesIn(table).some((source) => source !== null));
    const sources = [...this.#sources.values()];
    const plan = planRounds(sources.reduce((sum, { values, hasParts }) => sum + values * (hasParts ? 4 : 1), 0));
    this.#memory = allocateTable(plan.slots);
    this.#rounds = plan.rounds;
    this.#first = sources.length === 0 ? Promise.resolve(true) : this.#collectRound(0);
    this.#first.catch(() => {});
    this.#searchingEarly = this.#searchEarly();
    this.#searchingEarly.catch(() => {});
  }

  /** Finds the tables of the result with the same rows in another order. */
  async findReordered(result: Manifest): Promise<Set<string>> {
    this.#isEarly = false;
    const { repository, original } = this.#options;
    return await findReordered(this.#threads, { repository, original, result });
  }

  /** Searches the stored result; `known` columns are not searched. */
  async search(result: Manifest, known: Set<string>, reordered: Set<string>): Promise<Leaks> {
    const leaks: Leaks = { found: [], common: [] };
    if (this.#sources.size === 0) return leaks;
    const all = await this.#searchResult(result, known);
    const columnsOf = columnsByTable(result);
    const unchanged = new Set(
      unchangedTables(this.#options.original, result, reordered).flatMap(({ name }) => columnsOf.get(name) ?? []),
    );
    const present = new Set([...this.#originalColumns.values()].flat());
    const judge = (name: string, hits: ColumnHits, earlier: Map<string, ColumnHits> | null) => {
      const source = this.#sources.get(name);
      const before = unchanged.has(name) ? 'same' : !present.has(name) ? null : (earlier?.get(name) ?? 'unknown');
      return judgeColumn({ hits, own: source ? (this.#own.get(source.id) ?? null) : null, before });
    };
    const undecided = new Set(
      [...all].filter(([name, hits]) => judge(name, hits, null).verdict === 'undecided').map(([name]) => name),
    );
    const earlier = undecided.size === 0 ? null : await this.#searchOriginal(undecided);
    const judged = [...all].map(([column, hits]) => ({ column, hits, verdict: judge(column, hits, earlier) }));
    const isConfirmed = await this.#confirm(
      judged.flatMap(({ hits, verdict }) => (verdict.verdict === 'found' ? hits.hits : [])),
    );
    const names = [...this.#sources.keys()];
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
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEarly = false;
    await this.#threads[Symbol.asyncDispose]();
    await Promise.allSettled([this.#first, this.#searchingEarly]);
  }

  #sourcesIn({ name }: ManifestTable): (LeakColumn | null)[] {
    return (this.#originalColumns.get(name) ?? []).map((column) => this.#sources.get(column) ?? null);
  }

  #stored(manifest: Manifest, table: ManifestTable): StoredRows {
    return { files: objectsOf(this.#options.repository, table), format: formatOf(manifest) };
  }

  /** `false` when the memory is too small for the values of a round. */
  async #collect(round: number): Promise<boolean> {
    const { original } = this.#options;
    // Untouched pages take no memory.
    if (!this.#isEmpty) new Uint8Array(this.#memory.buffer).fill(0);
    this.#isEmpty = false;
    for (const table of this.#personal) {
      const values = { memory: this.#memory, round, rounds: this.#rounds };
      const task = {
        task: 'collect',
        ...{ rows: this.#stored(original, table), sources: this.#sourcesIn(table), values },
      } as const;
      const { isFull, distinct } = await this.#reading(original, table.file, this.#threads.run(task, 'collected'));
      if (isFull) return false;
      for (const [id, bits] of distinct) this.#own.set(id, addBits(this.#own.get(id), bits));
    }
    return true;
  }

  async #collectRound(round: number): Promise<boolean> {
    if (await this.#collect(round)) return true;
    this.#own.clear();
    this.#rounds *= 2;
    return false;
  }

  /** Searches the tables that the query does not name, while it runs. */
  async #searchEarly(): Promise<void> {
    if (this.#sources.size === 0 || !(await this.#first) || this.#rounds > 1) return;
    const { original, isNamed } = this.#options;
    const known = new Set(this.#sources.keys());
    for (const table of original.tables.filter(({ name }) => !isNamed(name))) {
      if (!this.#isEarly) return;
      const columns = this.#originalColumns.get(table.name) ?? [];
      const search = this.#searchTable(original, table, { columns, known, values: ONE_ROUND });
      this.#early.set(contentOf(table), search);
      await search;
    }
  }

  async #searchTable(
    manifest: Manifest,
    table: ManifestTable,
    { columns, known, values }: { columns: string[]; known: Set<string>; values: Round },
  ): Promise<ColumnHits[]> {
    const wanted = columns.map((name) => (known.has(name) ? null : { scale: this.#sources.get(name)?.scale ?? 1 }));
    if (wanted.every((column) => column === null)) return [];
    const task = {
      task: 'search rows',
      ...{ rows: this.#stored(manifest, table), columns: wanted, values: { memory: this.#memory, ...values } },
    } as const;
    const { hits } = await this.#reading(manifest, table.file, this.#threads.run(task, 'searched'));
    return hits;
  }

  async #searchResult(result: Manifest, known: Set<string>): Promise<Map<string, ColumnHits>> {
    let isCollected = await this.#first;
    while (true) {
      const all = new Map<string, ColumnHits>();
      let round = 0;
      for (; round < this.#rounds; round += 1) {
        if (!(round === 0 && isCollected) && !(await this.#collectRound(round))) break;
        const found = await this.#searchRound(result, known, { memory: this.#memory, round, rounds: this.#rounds });
        for (const [name, hits] of found) mergeHits(all, { name, hits, isOtherPart: false });
      }
      if (round === this.#rounds) return all;
      isCollected = false;
    }
  }

  async #searchTables(manifest: Manifest, search: TableSearch): Promise<Map<string, ColumnHits>> {
    const all = new Map<string, ColumnHits>();
    await Promise.all(
      search.tables.map(async (table) => {
        const columns = search.columnsOf.get(table.name) ?? [];
        const isSame = JSON.stringify(columns) === JSON.stringify(this.#originalColumns.get(table.name));
        const found = isSame && search.values.rounds === 1 ? this.#early.get(contentOf(table)) : undefined;
        const hits = await (found ?? this.#searchTable(manifest, table, { ...search, columns }));
        // Partitions are parts of their table.
        for (const [at, name] of columns.entries())
          mergeHits(all, { name, hits: hits[at] ?? noHits(), isOtherPart: true });
      }),
    );
    return all;
  }

  async #searchRound(result: Manifest, known: Set<string>, values: ValueRound): Promise<Map<string, ColumnHits>> {
    const { engine, repository, pool, original } = this.#options;
    const columnsOf = columnsByTable(result);
    const all = await this.#searchTables(result, { tables: result.tables, columnsOf, known, values });
    const contents = result.files.filter(({ name }) => !isDefinition(name)).map((file) => repository.object(file));
    if (contents.length > 0) {
      const task = { task: 'search contents', files: contents, values } as const;
      const { hits } = await this.#threads.run(task, 'searched');
      mergeHits(all, { name: LARGE_OBJECTS_ITEM, hits: hits[0] ?? noHits(), isOtherPart: true });
    }
    const { signal } = this.#context;
    const read = snapshotReader({ manifest: result, repository, pool, signal, state: UNPUBLISHED });
    const definitions = [carriedOverItem(original), ...(await engine.readDefinitions({ manifest: result, read }))];
    const texts = definitions.map(({ text }) => text);
    const { hits } = await this.#threads.run({ task: 'search texts', texts, values }, 'searched');
    for (const [at, { name }] of definitions.entries()) {
      const found = hits[at] ?? noHits();
      // Words of a program are words of the language.
      const telling = found.counts[TELLING];
      mergeHits(all, { name, hits: { ...found, counts: [0, 0, 0, 0, telling] }, isOtherPart: true });
    }
    return all;
  }

  /** Searches the columns before the query; with several rounds, the last one is enough to compare. */
  async #searchOriginal(columns: Set<string>): Promise<Map<string, ColumnHits>> {
    const { original } = this.#options;
    const columnsOf = this.#originalColumns;
    const columnsIn = ({ name }: ManifestTable): string[] => columnsOf.get(name) ?? [];
    const tables = original.tables.filter((table) => columnsIn(table).some((name) => columns.has(name)));
    const known = new Set(tables.flatMap(columnsIn).filter((name) => !columns.has(name)));
    const all = new Map<string, ColumnHits>();
    const rounds = this.#rounds;
    for (let round = 0; round < rounds; round += 1) {
      if (rounds > 1) await this.#collect(round);
      const found = await this.#searchTables(original, { tables, columnsOf, known, values: { round, rounds } });
      for (const [name, hits] of found) mergeHits(all, { name, hits, isOtherPart: false });
    }
    return all;
  }

  /** Compares the texts with those of the original: two texts may have one digest by chance. */
  async #confirm(hits: Hit[]): Promise<(hit: Hit) => boolean> {
    const wanted = hits.filter(({ text }) => text !== null);
    const ids = new Set(wanted.map(({ source }) => source));
    const texts = new Map<string, Set<string>>();
    for (const table of this.#personal) {
      const sources = this.#sourcesIn(table).map((source) => (source && ids.has(source.id) ? source : null));
      if (sources.every((source) => source === null)) continue;
      const task = { task: 'texts', rows: this.#stored(this.#options.original, table), sources, wanted } as const;
      const { texts: read } = await this.#threads.run(task, 'texts');
      for (const [key, found] of read) texts.set(key, new Set([...(texts.get(key) ?? []), ...found]));
    }
    return ({ first, second, text }) =>
      text === null || [...(texts.get(`${first} ${second}`) ?? [])].some((one) => one.startsWith(text));
  }

  async #reading<Result>(manifest: Manifest, file: ManifestFile, work: Promise<Result>): Promise<Result> {
    return await work.catch((cause) => {
      this.#context.signal.throwIfAborted();
      throw damaged({ manifest, file, state: UNPUBLISHED, cause });
    });
  }
}

type Round = Pick<ValueRound, 'round' | 'rounds'>;

interface TableSearch {
  tables: ManifestTable[];
  columnsOf: Map<string, string[]>;
  known: Set<string>;
  values: Round;
}

const UNPUBLISHED = 'Nothing was published.';
/** The start of a thread costs as much as a few megabytes. */
const BYTES_OF_THREAD = 32 * 1024 * 1024;
const ONE_ROUND = { round: 0, rounds: 1 };
const MOST_FROM = 3;
