import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { Engine } from '../../engines/engine.ts';
import type { DumpResult } from '../../engines/facets/dump.ts';
import type { LocalRepository } from '../../repository/local-repository.ts';
import type { Manifest } from '../../repository/manifest.ts';
import type { Coverage } from '../../results/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { type ColumnFacts, columnName } from '../../sanitize/column-facts.ts';
import { compareColumns, compareTables } from '../../sanitize/coverage.ts';
import { detectPersonalData, type Suspicion } from '../../sanitize/detector/detect.ts';
import type { KeepComment } from '../../sanitize/keep-comments.ts';
import type { Statement } from '../../sanitize/statement.ts';
import { formatNumberOf } from '../../text/format.ts';
import { storeDump } from '../snapshots/store-dump.ts';

export interface SanitizeWork {
  engine: Engine;
  /** The restored original, without other sessions. */
  url: DatabaseUrl;
  manifest: Manifest;
  statements: Statement[];
  keep: KeepComment[];
}

/** Runs the query, and tells which columns that look personal it has left as they are. Steps: `survey`, `query`, `coverage`. */
export async function runQueryAndCompare(
  context: Context,
  { engine, url, manifest, statements, keep }: SanitizeWork,
): Promise<Omit<Coverage, 'tables'> & { columns: ColumnFacts[]; suspicions: Suspicion[] }> {
  const { report } = context;
  const sanitizer = engine.sanitize;
  const looksPersonal = ({ suspects }: { suspects: unknown[] }): string =>
    `${formatNumberOf(suspects.length, 'column looks', 'columns look')} like personal data`;
  const surveying = { step: 'survey', label: 'Search for personal data', done: looksPersonal };
  const survey = await withStep(report, surveying, async () => {
    const columns = await sanitizer.readColumns(context, { url, manifest });
    const suspicions = detectPersonalData(columns);
    const suspects = suspicions.map(({ facts }) => facts);
    return { columns, suspicions, suspects, before: await sanitizer.digestColumns(context, url, suspects) };
  });
  const { columns, suspicions, suspects, before } = survey;

  if (statements.length > 0) await sanitizer.runQuery(context, { url, manifest, statements });

  const left = ({ findings }: { findings: unknown[] }): string =>
    `${looksPersonal(survey)}; ${formatNumberOf(findings.length, 'is', 'are')} unchanged`;
  const comparing = { step: 'coverage', label: 'Compare the columns with their old values', done: left };
  const compared = await withStep(report, comparing, async () => {
    const after = await sanitizer.digestColumns(context, url, suspects);
    const fresh = await sanitizer.readColumns(context, { url, manifest });
    const samplesAfter = new Map(fresh.map((facts) => [columnName(facts), facts.samples]));
    const changes = compareColumns({ suspicions, before, after, samplesAfter, keep });
    warnOfUnused(context, keep, suspicions);
    return changes;
  });
  return { ...compared, columns, suspicions };
}

function warnOfUnused({ report }: Context, keep: KeepComment[], suspicions: Suspicion[]): void {
  const known = new Set(suspicions.map(({ facts }) => columnName(facts)));
  for (const { column, line } of keep) {
    if (known.has(column)) continue;
    const message = `Line ${line} of the query keeps ${column}, which does not look like personal data or does not exist`;
    report({ event: 'warning', code: 'keep_unused', message });
  }
}

export interface SanitizedDump {
  dump: DumpResult & Pick<Manifest, 'migrations'>;
  addedBytes: number;
  coverage: Coverage;
}

export interface Sanitizing extends SanitizeWork {
  repository: LocalRepository;
  jobs: number;
  strict: boolean;
  /** Whether the database stays, and so must hold no trace of the old values. */
  stays: boolean;
}

/** Sanitizes a restored database and stores its dump; nothing is published yet. Steps also: `dump`, `traces`. */
export async function sanitizeDatabase(context: Context, work: Sanitizing): Promise<SanitizedDump> {
  const { engine, url, manifest, repository, jobs, strict, stays } = work;
  const { findings, acknowledged, changed: changedColumns } = await runQueryAndCompare(context, work);
  if (strict && findings.length > 0) throw personalDataLeft(manifest.target, findings);
  const schemaConfig = { include_schemas: manifest.schemas };
  const { dump, addedBytes } = await storeDump(context, {
    engine,
    repository,
    previous: manifest,
    copyOf: manifest,
    jobs,
    url,
    schemaConfig,
  });
  const tables = compareTables(manifest.tables, dump.tables);
  if (manifest.tables.length > 0 && dump.tables.length === 0) throw nothingLeft(manifest.target);
  const changed = tables.filter(({ state }) => state !== 'untouched' && state !== 'dropped').map(({ name }) => name);
  if (stays) await engine.sanitize.removeTraces(context, { url, dump, changed });
  return { dump, addedBytes, coverage: { tables, findings, acknowledged, changed: changedColumns } };
}

function personalDataLeft(target: string, findings: Coverage['findings']): UserError {
  const count = formatNumberOf(findings.length, 'column holds', 'columns hold');
  return new UserError(`${count} what looks like personal data, so the sanitized snapshot is not published`, {
    code: 'personal_data_left',
    exit: EXIT.refused,
    details: findings.map(
      ({ column, meaning, state, samples }) => `${column} looks like ${meaning}, ${state} (${samples.join(', ')})`,
    ),
    hint: `Change them in the query (tool sanitize ${target} --suggest writes one), or acknowledge them with a comment in it: -- keep: schema.table.column reason`,
  });
}

function nothingLeft(target: string): UserError {
  return new UserError(`The sanitization query of "${target}" has dropped every table`, {
    code: 'nothing_left',
    exit: EXIT.failed,
    hint: 'Nothing was published, and the destination is unchanged. TRUNCATE empties a table and leaves it there.',
  });
}
