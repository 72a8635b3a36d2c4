import { engineOf } from '../../../engines/registry.ts';
import type { ClassifyResult, LedgerCounts } from '../../../results/review/ledger-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { withStep } from '../../../runtime/events.ts';
import { type ColumnDigest, type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import { createLeakThreads } from '../../../sanitize/leaks/leak-threads.ts';
import { entryOf, findOpenItems, type Ledger, type LedgerEntry } from '../../../sanitize/ledger/ledger.ts';
import { readLedger, updateLedger } from '../../../sanitize/ledger/ledger-file.ts';
import { itemName, itemsOf, type LedgerItem } from '../../../sanitize/ledger/ledger-item.ts';
import { personalColumns } from '../../../sanitize/personal-columns.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { cpusFor } from '../../cpus-for.ts';
import { inScratchDatabase } from '../../snapshots/in-scratch-database.ts';
import { localRepository } from '../../snapshots/local-repository.ts';
import { assertTrusted } from '../../snapshots/signatures.ts';
import { findSnapshot } from '../../snapshots/snapshots.ts';
import { dumpOfCopy } from '../../snapshots/store-dump.ts';
import { presentQuery } from '../present-query.ts';
import type { SanitizeRequest } from '../sanitize.ts';
import { runQueryAndCompare } from '../sanitize-database.ts';
import { digestItems, isUnchanged } from './digests.ts';
import { placeOf, storedItems, storedPaths } from './stored-items.ts';

export type ClassifyRequest = Pick<SanitizeRequest, 'target' | 'snapshot' | 'allowSuperuser' | 'allowUntrusted'>;

export interface ExaminedItem extends LedgerItem {
  /** The entry of the ledger, else what the detector and the query suggest; `open` where nothing does. */
  entry: LedgerEntry;
}

/** Writes an entry for each item of the sanitized result; entries that exist stay. Steps: those of a sanitization. */
export async function classify(context: Context, request: ClassifyRequest): Promise<ClassifyResult> {
  const { items } = await examine(context, request);
  return saveEntries(context, { target: request.target, items });
}

/** Adds the entries of items to the ledger. What another person has classified meanwhile stays. */
export async function saveEntries(
  { configuration }: Pick<Context, 'configuration'>,
  { target, items }: { target: string; items: ExaminedItem[] },
): Promise<ClassifyResult> {
  let added = 0;
  let ledger: Ledger = new Map();
  const file = await updateLedger({ configuration, target }, (before) => {
    ledger = new Map(before);
    for (const { name, entry, values } of items) {
      const present = entryOf(name, ledger);
      if (present && present.state !== 'open') {
        // Written by hand: the values of today are those that were classified.
        if (values && !present.values && ledger.has(name)) ledger.set(name, { ...present, values });
        continue;
      }
      if (!present) added += 1;
      ledger.set(name, entry);
    }
    return ledger;
  });
  return { target, file, added, counts: countsOf(ledger), open: findOpenItems(items, ledger) };
}

function countsOf(ledger: Ledger): LedgerCounts {
  const counts: LedgerCounts = { changed: 0, kept: 0, empty: 0, excluded: 0, open: 0 };
  for (const { state } of ledger.values()) counts[state] += 1;
  return counts;
}

/** Restores the original into a throw-away database, runs the query there, and compares. Stores nothing. */
export async function examine(context: Context, request: ClassifyRequest): Promise<Examination> {
  const { configuration, report, signal } = context;
  const { target } = request;
  const ledger: Ledger = (await readLedger({ configuration, target })) ?? new Map();
  const { manifest } = await findSnapshot(context, { ...request, original: true });
  assertTrusted(context, manifest, request);
  const { statements, keep } = await presentQuery(context, target, engineOf(manifest.engine));
  const repository = localRepository(context);
  const cpus = cpusFor(context, target);
  const examined = await repository.withScratch(() =>
    inScratchDatabase(context, { ...request, manifest }, async ({ database }) => {
      const { sanitize } = database;
      const columns = await sanitize.readColumns(manifest);
      const before = await digestItems(sanitize, manifest, columns);
      const compared = await runQueryAndCompare(context, { database, manifest, statements, keep });
      const after = await digestItems(sanitize, manifest, columns);
      const left = new Set(compared.findings.map(({ column }) => column));
      const suspects = compared.suspicions.filter(({ facts }) => left.has(columnName(facts)));
      const suggested = await sanitize.suggestQuery({ columns: compared.columns, suspects });
      const contents = await sanitize.readContents({ include_schemas: manifest.schemas });
      const result = await dumpOfCopy({ database, repository, manifest, cpus });
      await using threads = createLeakThreads(cpus, signal);
      const paths = { threads, repository, columns: contents.columns };
      const [was, is] = [await storedPaths({ ...paths, manifest }), await storedPaths({ ...paths, manifest: result })];
      const stored = storedItems(result, contents.columns);
      const itemOf = (facts: ColumnFacts): string => itemName(placeOf(manifest, facts));
      return {
        items: [...itemsOf(contents), ...stored, ...[...is.values()].map(({ item }) => item)],
        evidence: {
          ...{ before, after, was, is },
          rows: new Map(stored.map(({ name, rows }) => [name, rows])),
          facts: new Map(columns.map((facts) => [itemOf(facts), facts])),
          suspicious: new Set(compared.suspicions.map(({ facts }) => itemOf(facts))),
          kept: new Map(compared.acknowledged.map(({ column, reason }) => [column, reason])),
          suggested: new Set(suggested.tables.flatMap((table) => table.columns.map(({ column }) => column))),
        } satisfies Evidence,
      };
    }),
  );
  const step = { step: 'classify', label: 'Classify the columns', done: classifiedText };
  return withStep(report, step, async () => {
    const { evidence } = examined;
    const unique = new Map<string, LedgerItem>();
    for (const item of examined.items) unique.set(item.name, { ...item, ...unique.get(item.name) });
    const items = [...unique.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((item) => examinedItem(item, { ledger, evidence }));
    return { items, evidence };
  });
}

interface Examination {
  items: ExaminedItem[];
  evidence: Evidence;
}

function classifiedText({ items }: Examination): string {
  const open = items.filter(({ entry }) => entry.state === 'open').length;
  return `${formatNumberOf(items.length, 'entry', 'entries')}; ${open} open`;
}

export interface Evidence {
  before: Map<string, ColumnDigest>;
  after: Map<string, ColumnDigest>;
  was: Awaited<ReturnType<typeof storedPaths>>;
  is: Awaited<ReturnType<typeof storedPaths>>;
  /** Rows of the table of the column in the result. */
  rows: Map<string, number>;
  facts: Map<string, ColumnFacts>;
  /** Columns that look personal. */
  suspicious: Set<string>;
  /** Reasons of the comments in the query, by `schema.table.column`. */
  kept: Map<string, string>;
  /** Columns that a suggestion would change, by `schema.table.column`. */
  suggested: Set<string>;
}

function examinedItem(item: LedgerItem, { ledger, evidence }: { ledger: Ledger; evidence: Evidence }): ExaminedItem {
  const present = entryOf(item.name, ledger);
  const isKnown = present !== undefined && present.state !== 'open';
  const entry = isKnown ? present : { ...proposal(item, evidence), ...(item.values && { values: item.values }) };
  return { ...item, entry: entry.state === 'open' ? { state: 'open' } : entry };
}

/** A detected column is proposed as changed: until the query changes it, nothing is published. */
function proposal(item: LedgerItem, evidence: Evidence): LedgerEntry {
  const { before, after, was, is, rows, facts, kept, suggested, suspicious } = evidence;
  const { name } = item;
  const own = facts.get(name);
  const plain = own ? columnName(own) : name;
  const reason = kept.get(plain);
  if (reason !== undefined) return { state: 'kept', reason };
  if (rows.get(name) === 0) return { state: 'excluded' };
  const [then, now] = [before.get(name), after.get(name)];
  if (own && then && now) {
    if (then.values === 0 && now.values === 0) return { state: 'empty' };
    if (!isUnchanged(then, now, own)) return { state: 'changed' };
  }
  const [path, earlier] = [is.get(name), was.get(name)];
  if (path && earlier && path.sum !== 0 && earlier.sum !== path.sum) return { state: 'changed' };
  const isPersonal = suggested.has(plain) || suspicious.has(name) || isPersonalKey(item);
  return { state: isPersonal ? 'changed' : 'open' };
}

/** Reports whether a key of a document looks personal, by its name alone. */
function isPersonalKey({ name, type }: LedgerItem): boolean {
  const key = /->"?([^">*]+)"?$/.exec(name)?.[1];
  return (
    type === 'JSON key' &&
    key !== undefined &&
    personalColumns({ schema: '', table: '', columns: [key], samples: [[]] }).size > 0
  );
}
