import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { CanaryReport } from '../../../results/review/ledger-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import { createMarkers, type MarkSearch, markSearch } from '../../../sanitize/canaries/canary-marks.ts';
import type { MarkHits } from '../../../sanitize/canaries/mark-finder.ts';
import { columnName } from '../../../sanitize/column-facts.ts';
import { detectPersonalData } from '../../../sanitize/detector/detect.ts';
import type { KeepComment } from '../../../sanitize/keep-comments.ts';
import { createLeakThreads, type LeakThreads } from '../../../sanitize/leaks/leak-threads.ts';
import { entryOf, type LedgerState } from '../../../sanitize/ledger/ledger.ts';
import { readLedger } from '../../../sanitize/ledger/ledger-file.ts';
import { itemName, LARGE_OBJECTS_ITEM } from '../../../sanitize/ledger/ledger-item.ts';
import type { Statement } from '../../../sanitize/statement.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { inScratchDatabase } from '../../snapshots/in-scratch-database.ts';
import { localRepository } from '../../snapshots/local-repository.ts';
import { formatOf } from '../../snapshots/rows/rows.ts';
import { dumpOfCopy } from '../../snapshots/store-dump.ts';
import { isDefinition } from '../leaks/definition-files.ts';
import { storedColumns } from '../leaks/leak-sources.ts';
import { objectsOf } from '../leaks/unchanged-tables.ts';
import { requiresClassified } from '../ledger/ledger-gate.ts';
import { placeOf } from '../ledger/stored-items.ts';

export interface CanaryOptions {
  target: string;
  manifest: Manifest;
  statements: Statement[];
  keep: KeepComment[];
  persons: number;
  cpus: number;
  allowSuperuser: boolean;
  /** Throws when marks survive in a column that nobody keeps. */
  strict: boolean;
}

/**
 * Runs the query in a throw-away copy with synthetic persons, and searches what would be stored of it for their marks.
 * The copy and its dump are removed: no canary is in a snapshot. Steps: those of a restore, `canaries`, `query`, `marks`.
 */
export async function searchCanaries(context: Context, options: CanaryOptions): Promise<CanaryReport> {
  const { target, manifest, statements, persons, strict } = options;
  const { report } = context;
  const markers = createMarkers();
  const repository = localRepository(context);
  const found = await repository.withScratch(() =>
    inScratchDatabase(context, options, async ({ database }) => {
      const placing = {
        step: 'canaries',
        label: `Insert ${formatNumberOf(persons, 'synthetic person')}`,
        done: ({ origins, unmarked }: Awaited<ReturnType<typeof database.sanitize.insertCanaries>>) =>
          `Marked ${formatNumberOf(new Set(origins.values()).size, 'column')}; ${unmarked.length} take no mark`,
      };
      const inserted = await withStep(report, placing, async () => {
        const columns = await database.sanitize.readColumns(manifest);
        const kinds = new Map(detectPersonalData(columns).map(({ facts, kind }) => [columnName(facts), kind]));
        return database.sanitize.insertCanaries({ columns, kinds, persons, markers });
      });
      await database.sanitize.runQuery({ manifest, statements });
      const searching = { step: 'marks', label: 'Search the result for marks', done: foundText };
      return withStep(report, searching, async () => {
        const { cpus } = options;
        const result = await dumpOfCopy({ database, repository, manifest, cpus });
        const search = markSearch(markers, inserted.tokens);
        await using threads = createLeakThreads(cpus, context.signal);
        return { inserted, survived: await findMarks({ context, threads, result, search, inserted }) };
      });
    }),
  );
  const kept = await keptPlaces(context, options);
  const survived = found.survived.map((each) => ({ ...each, kept: kept(each.column) }));
  const left = survived.filter((each) => !each.kept);
  if (strict && left.length > 0) throw canariesSurvived(target, left);
  for (const each of left) report({ event: 'warning', code: 'canaries_survived', message: survivorText(each) });
  const { origins, unmarked } = found.inserted;
  return { persons, columns: new Set(origins.values()).size, unmarked, survived };
}

type Survivor = CanaryReport['survived'][number];

interface MarkedResult {
  context: Context;
  threads: LeakThreads;
  result: Manifest;
  search: MarkSearch;
  inserted: { origins: Map<number, string> };
}

/** Reads all bytes of the result: rows, large objects, definitions. */
async function findMarks({
  context,
  threads,
  result,
  search,
  inserted,
}: MarkedResult): Promise<Omit<Survivor, 'kept'>[]> {
  const repository = localRepository(context);
  const columnsOf = storedColumns(result);
  const all = new Map<string, MarkHits>();
  const add = (place: string, hits: MarkHits | undefined): void => {
    const known = all.get(place) ?? new Map<number, number>();
    for (const [id, count] of hits ?? []) known.set(id, count + (known.get(id) ?? 0));
    if (known.size > 0) all.set(place, known);
  };
  await Promise.all(
    result.tables.map(async (table) => {
      const places = columnsOf.get(table.name) ?? [];
      const rows = { files: objectsOf(repository, table), format: formatOf(result) };
      const { hits } = await threads.run({ task: 'marks', rows, columns: places.length, search }, 'marks');
      for (const [at, place] of places.entries()) add(itemName(placeOf(result, place)), hits[at]);
    }),
  );
  for (const file of result.files) {
    const files = [repository.object(file)];
    const { hits } = await threads.run({ task: 'marks in contents', files, search }, 'marks');
    add(isDefinition(file.name) ? DEFINITIONS : LARGE_OBJECTS_ITEM, hits[0]);
  }
  return [...all].map(([column, hits]) => ({
    column,
    marks: [...hits.values()].reduce((sum, count) => sum + count, 0),
    from: [...new Set([...hits.keys()].flatMap((id) => inserted.origins.get(id) ?? []))],
  }));
}

const DEFINITIONS = 'definitions';

function foundText({ survived }: { survived: unknown[] }): string {
  return survived.length === 0
    ? 'No mark is left'
    : `${formatNumberOf(survived.length, 'column holds', 'columns hold')} marks`;
}

/** Reports whether the ledger or a comment of the query keeps a column. */
async function keptPlaces(
  { configuration }: Context,
  { target, keep, manifest }: CanaryOptions,
): Promise<(column: string) => boolean> {
  const ledger = (await readLedger({ configuration, target })) ?? new Map();
  const commented = new Set(keep.map(({ column }) => column));
  const plain = new Map(
    [...storedColumns(manifest).values()]
      .flat()
      .map((place) => [itemName(placeOf(manifest, place)), columnName(place)]),
  );
  const believed = new Set<LedgerState>(requiresClassified(configuration, target) ? COMPARED : ['kept']);
  return (column) => {
    const state = entryOf(column, ledger)?.state;
    return (state !== undefined && believed.has(state)) || commented.has(plain.get(column) ?? column);
  };
}

/** Only a target that requires the ledger has it compared with what is stored: without rows there are no persons. */
const COMPARED: LedgerState[] = ['kept', 'excluded', 'empty'];

function survivorText({ column, marks, from }: Pick<Survivor, 'column' | 'marks' | 'from'>): string {
  const others = from.filter((origin) => !origin.endsWith(column));
  return `${column} holds ${formatNumberOf(marks, 'mark')}${others.length > 0 ? ` of ${others.join(', ')}` : ''}`;
}

function canariesSurvived(target: string, survived: Survivor[]): UserError {
  const count = formatNumberOf(survived.length, 'column holds', 'columns hold');
  return new UserError('canaries_survived', `${count} marks of synthetic persons, so "${target}" is not published`, {
    details: survived.map(survivorText),
    hint: 'Change these columns in the query, or keep them with a reason. The canaries themselves are in no snapshot.',
  });
}
