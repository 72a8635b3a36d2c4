import type { DumpResult } from '../../engines/facets/dump.ts';
import type { Database } from '../../engines/open-database.ts';
import type { LocalRepository } from '../../repository/local-repository.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../repository/objects/object-pool.ts';
import type { Coverage } from '../../results/review/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { type ColumnDigest, type ColumnFacts, columnName } from '../../sanitize/column-facts.ts';
import { addLeaks, compareColumns, compareTables, hasNoValue } from '../../sanitize/coverage.ts';
import { detectPersonalData, type Suspicion } from '../../sanitize/detector/detect.ts';
import type { KeepComment } from '../../sanitize/keep-comments.ts';
import { type Statement, tablesNamedBy } from '../../sanitize/statement.ts';
import { formatNumberOf } from '../../text/format.ts';
import { shell } from '../../text/shell-word.ts';
import { storeDump } from '../snapshots/store-dump.ts';
import { personalText } from './coverage-text.ts';
import { LeakSearch } from './leaks/search-leaks.ts';
import { type ClassifiedItems, openLedgerGate } from './ledger/ledger-gate.ts';

export interface SanitizeWork {
  /** The restored original, without other sessions. */
  database: Database;
  manifest: Manifest;
  statements: Statement[];
  keep: KeepComment[];
}

export interface Survey {
  columns: ColumnFacts[];
  suspicions: Suspicion[];
  before: Map<string, ColumnDigest>;
}

export type ComparedColumns = Omit<Coverage, 'tables' | 'common'> & Survey;

/**
 * Runs the query, and compares the columns that look like personal data with their old values. Steps: `survey`, `query`,
 * `coverage`.
 */
export async function runQueryAndCompare(
  context: Context,
  { database: { sanitize }, manifest, statements, keep }: SanitizeWork,
  onSurvey: (survey: Survey) => void = () => {},
): Promise<ComparedColumns> {
  const { report } = context;
  const looksPersonal = ({ suspicions, before }: Survey): string => {
    const { length } = suspicions.filter(({ facts }) => !hasNoValue(before.get(columnName(facts))));
    return `${formatNumberOf(length, 'column looks', 'columns look')} like personal data`;
  };
  const surveying = { step: 'survey', label: 'Search for personal data', done: looksPersonal };
  const survey = await withStep(report, surveying, async () => {
    const columns = await sanitize.readColumns(manifest);
    const suspicions = detectPersonalData(columns);
    const suspects = suspicions.map(({ facts }) => facts);
    return { columns, suspicions, suspects, before: await sanitize.digestColumns(suspects) };
  });
  const { columns, suspicions, suspects, before } = survey;
  onSurvey(survey);

  if (statements.length > 0) await sanitize.runQuery({ manifest, statements });

  const found = (coverage: Pick<Coverage, 'findings' | 'acknowledged' | 'changed'>): string =>
    `Compared the columns: ${personalText(coverage.findings, coverage)}`;
  const comparing = { step: 'coverage', label: 'Compare the columns with their old values', done: found };
  const compared = await withStep(report, comparing, async () => {
    const after = await sanitize.digestColumns(suspects);
    const present = await sanitize.readColumns(manifest);
    const samplesAfter = new Map(present.map((facts) => [columnName(facts), facts.samples]));
    return compareColumns({ suspicions, before, after, samplesAfter, keep });
  });
  return { ...compared, columns, suspicions, before };
}

function warnOfUnused({ report }: Context, keep: KeepComment[], used: Set<string>): void {
  for (const { column, line } of keep) {
    if (used.has(column)) continue;
    const message = `Line ${line} of the query keeps ${column}, which does not look like personal data or does not exist`;
    report({ event: 'warning', code: 'keep_unused', message });
  }
}

export interface SanitizedDump {
  dump: DumpResult & Pick<Manifest, 'migrations'>;
  addedBytes: number;
  coverage: Coverage;
  classified: ClassifiedItems | null;
}

export interface SanitizeJob extends SanitizeWork {
  repository: LocalRepository;
  /** Reads its definitions. */
  pool: ObjectPool;
  cpus: number;
  strict: boolean;
  /** The database stays, and so must hold no trace of the old values. */
  stays: boolean;
}

/** Sanitizes a restored database and stores its dump; nothing is published yet. Steps also: `dump`, `leaks`, `traces`. */
export async function sanitizeDatabase(context: Context, work: SanitizeJob): Promise<SanitizedDump> {
  const { database, manifest, repository, pool, cpus, strict, stays, statements } = work;
  await using opened = new AsyncDisposableStack();
  const gate = await openLedgerGate(context, { database, repository, manifest, cpus });
  const keep = [...work.keep, ...(gate?.kept ?? [])];
  const kept = new Set(keep.map(({ column }) => column));
  const isNamed = tablesNamedBy(statements);
  let search: LeakSearch | undefined;
  const compared = await runQueryAndCompare(context, { ...work, keep }, (survey) => {
    search = opened.use(
      new LeakSearch(context, {
        engine: database.engine,
        repository,
        original: manifest,
        kept,
        isNamed,
        cpus,
        pool,
        ...survey,
      }),
    );
  });
  if (!search) throw new Error('the columns were not examined');
  await gate?.afterQuery();
  if (strict && compared.findings.length > 0) throw personalDataLeft(manifest.target, compared.findings);
  const schemaConfig = { include_schemas: manifest.schemas };
  const { dump, addedBytes } = await storeDump({
    database,
    repository,
    previous: manifest,
    copyOf: manifest,
    cpus,
    schemaConfig,
  });
  if (manifest.tables.length > 0 && dump.tables.length === 0) throw nothingLeft(manifest.target);
  const classified = (await gate?.afterDump({ ...manifest, ...dump })) ?? null;
  const reordered = await search.findReordered({ ...manifest, ...dump });
  const tables = compareTables({
    before: manifest.tables,
    after: dump.tables,
    reordered,
    isNamed,
  });
  const changed = tables.filter(({ state }) => state !== 'untouched' && state !== 'dropped').map(({ name }) => name);
  // The server works meanwhile.
  const [searched, traces] = await Promise.allSettled([
    searchResult(context, { search, dump, compared, reordered, work, keep }),
    stays ? database.sanitize.removeTraces({ dump, changed }) : null,
  ]);
  if (searched.status === 'rejected') throw searched.reason;
  const columns = searched.value;
  if (strict && columns.findings.length > 0) throw personalDataLeft(manifest.target, columns.findings);
  if (traces.status === 'rejected') throw traces.reason;
  return { dump, addedBytes, coverage: { tables, ...columns }, classified };
}

interface ResultSearch {
  search: LeakSearch;
  dump: SanitizedDump['dump'];
  compared: ComparedColumns;
  reordered: Set<string>;
  work: SanitizeJob;
  /** Also those of the ledger. */
  keep: KeepComment[];
}

async function searchResult(
  context: Context,
  { search, dump, compared, reordered, work, keep }: ResultSearch,
): Promise<Omit<Coverage, 'tables'>> {
  const { columns: _, suspicions, before: __, ...changes } = compared;
  const { manifest } = work;
  const step = {
    step: 'leaks',
    label: 'Search the result for original values',
    done: ({ findings }: Omit<Coverage, 'tables'>) => searchedText(findings),
  };
  return await withStep(context.report, step, async () => {
    const known = changes.findings.filter(({ state }) => state === 'unchanged').map(({ column }) => column);
    const leaks = await search.search({ ...manifest, ...dump }, new Set(known), reordered);
    const columns = addLeaks(changes, { ...leaks, suspicions, keep });
    const used = [...columns.acknowledged, ...suspicions.map(({ facts }) => ({ column: columnName(facts) }))];
    warnOfUnused(context, work.keep, new Set(used.map(({ column }) => column)));
    return columns;
  });
}

function searchedText(findings: Coverage['findings']): string {
  if (findings.length === 0) return 'No original personal value is left';
  return `${formatNumberOf(findings.length, 'column holds', 'columns hold')} original personal values`;
}

function personalDataLeft(target: string, findings: Coverage['findings']): UserError {
  const count = formatNumberOf(findings.length, 'column holds', 'columns hold');
  return new UserError(
    'personal_data_left',
    `${count} original personal data, so the sanitized snapshot is not published`,
    {
      details: findings.map(({ column, meaning, state, samples, original_values, from }) =>
        state === 'leaked'
          ? `${column} holds ${formatNumberOf(original_values ?? 0, 'original value')} of ${from.join(', ')} (${samples.join(', ')})`
          : `${column} looks like ${meaning}, ${state} (${samples.join(', ')})`,
      ),
      hint: `Change them in the query (${shell`tool sanitize ${target} --suggest`} prints statements for them), or acknowledge them with a comment in it: -- keep: schema.table.column reason`,
    },
  );
}

function nothingLeft(target: string): UserError {
  return new UserError('nothing_left', `The sanitization query of "${target}" has dropped every table`, {
    hint: 'Nothing was published, and the destination is unchanged. TRUNCATE empties a table and leaves it there.',
  });
}
