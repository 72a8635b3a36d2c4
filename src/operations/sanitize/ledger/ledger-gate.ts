import type { Configuration } from '../../../config/configuration.ts';
import type { Database } from '../../../engines/open-database.ts';
import type { LocalRepository } from '../../../repository/local-repository.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { OpenItem } from '../../../results/review/ledger-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import { type ColumnDigest, type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import type { KeepComment } from '../../../sanitize/keep-comments.ts';
import { createLeakThreads } from '../../../sanitize/leaks/leak-threads.ts';
import {
  entryOf,
  findOpenItems,
  findReclassified,
  type Ledger,
  type LedgerEntry,
  openItemText,
} from '../../../sanitize/ledger/ledger.ts';
import { ledgerPath, readLedger } from '../../../sanitize/ledger/ledger-file.ts';
import { type CatalogContents, itemName, itemsOf, type LedgerItem } from '../../../sanitize/ledger/ledger-item.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { shell } from '../../../text/shell-word.ts';
import { digestItems, isUnchanged } from './digests.ts';
import { placeOf, storedItems, storedPaths } from './stored-items.ts';

/** Entries of a ledger as a manifest records them. */
export type ClassifiedItems = NonNullable<Manifest['classified']>;

export function requiresClassified({ settings }: Configuration, target: string): boolean {
  return settings.targets[target]?.sanitize?.require_classified ?? false;
}

/** Refuses a snapshot with stored columns that nobody has classified, before it is restored. */
export async function assertStoredClassified(context: Context, manifest: Manifest): Promise<void> {
  const { configuration } = context;
  const { target } = manifest;
  if (!requiresClassified(configuration, target)) return;
  const ledger = (await readLedger({ configuration, target })) ?? new Map();
  assertNoneOpen(findOpenItems(storedItems(manifest, []), ledger), { configuration, target });
}

export interface Publication {
  manifest: Manifest;
  /** The data counts as sanitized. */
  sanitized: boolean;
  /** Refuses an original: why it would be published, and what to do instead. Absent: its readers may have originals. */
  original?: { why: string; hint: string } | undefined;
}

/**
 * Refuses to hand out a snapshot that was sanitized without the ledger or with another one, and an original that is
 * published. Every operation that gives a snapshot to others calls it: test/operations/sanitize/publications.test.ts.
 */
export async function assertPublishable(
  { configuration }: Pick<Context, 'configuration'>,
  { manifest, sanitized, original }: Publication,
): Promise<void> {
  const { target, classified, id } = manifest;
  if (!requiresClassified(configuration, target)) return;
  if (!sanitized) {
    if (!original) return;
    throw notPublished(manifest, original.why, original.hint);
  }
  if (classified === undefined) {
    throw notPublished(
      manifest,
      'was sanitized without the ledger',
      `Sanitize it again: ${shell`tool sanitize ${target} ${id}`}`,
    );
  }
  const ledger: Ledger = (await readLedger({ configuration, target })) ?? new Map();
  // An imported manifest says what it likes: the columns that it stores count.
  const recorded: Ledger = new Map(classified.map(({ name, ...entry }) => [name, entry]));
  const unrecorded = findOpenItems(storedItems(manifest, []), recorded);
  assertNoneOpen([...unrecorded, ...findReclassified(classified, ledger)], { configuration, target });
}

function notPublished({ id, target }: Manifest, why: string, hint: string): UserError {
  return new UserError('unclassified', `Snapshot ${id} of "${target}" is not published: it ${why}`, { hint });
}

export interface GateOptions {
  /** The restored original. */
  database: Database;
  repository: LocalRepository;
  manifest: Manifest;
  cpus: number;
}

/** Compares each stage of a sanitization with the ledger. A stage throws `unclassified`. */
export interface LedgerGate {
  /** The columns that the ledger keeps, as comments of the query do. */
  kept: KeepComment[];
  /** Compares the catalog and the values after the query. Step: `ledger`. */
  afterQuery(): Promise<void>;
  /** Compares what is stored. Returns the entries that were in force. Step: `stored_ledger`. */
  afterDump(result: Manifest): Promise<ClassifiedItems>;
}

/** Compares the catalog before the query; `null` where the target does not require it. */
export async function openLedgerGate(context: Context, options: GateOptions): Promise<LedgerGate | null> {
  const { configuration, report } = context;
  const { database, repository, manifest, cpus } = options;
  const { sanitize } = database;
  const { target } = manifest;
  if (!requiresClassified(configuration, target)) return null;
  const ledger: Ledger = (await readLedger({ configuration, target })) ?? new Map();
  const refuse = (open: OpenItem[]): void => assertNoneOpen(open, { configuration, target });
  const schemaConfig = { include_schemas: manifest.schemas };
  const readContents = async (): Promise<CatalogContents> => {
    const read = await sanitize.readContents(schemaConfig);
    refuse(findOpenItems(itemsOf(read), ledger));
    return read;
  };
  let contents = await readContents();
  const all = await sanitize.readColumns(manifest);
  const itemOf = (facts: ColumnFacts): string => itemName(placeOf(manifest, facts));
  const facts = all.filter((column) => CHECKED.has(stateOf(ledger, itemOf(column)) ?? 'open'));
  const before = await digestItems(sanitize, manifest, facts);
  return {
    kept: all.flatMap((column) => keepOf(column, entryOf(itemOf(column), ledger))),
    async afterQuery() {
      const step = { step: 'ledger', label: 'Compare the columns with the ledger', done: classifiedText };
      await withStep(report, step, async () => {
        contents = await readContents();
        const after = await digestItems(sanitize, manifest, facts);
        const types = new Map(contents.columns.map((column) => [itemName(column), column.type]));
        refuse(
          contradictions({ before, after, ledger, types, facts: new Map(facts.map((one) => [itemOf(one), one])) }),
        );
        return contents;
      });
    },
    async afterDump(result) {
      const step = { step: 'stored_ledger', label: 'Compare the stored rows with the ledger', done: storedText };
      return withStep(report, step, async () => {
        const stored = storedItems(result, contents.columns);
        const open = [...findOpenItems(stored, ledger), ...withRows(stored, ledger)];
        await using threads = createLeakThreads(cpus, context.signal);
        const { columns } = contents;
        const paths = await storedPaths({ threads, repository, manifest: result, columns });
        const items = [...paths.values()].map(({ item }) => item);
        open.push(...findOpenItems(items, ledger));
        const changed = items.filter(({ name }) => stateOf(ledger, name) === 'changed');
        if (changed.length > 0) {
          const earlier = await storedPaths({ threads, repository, manifest, columns });
          for (const { name, type } of changed) {
            const [was, is] = [earlier.get(name), paths.get(name)];
            if (!was || !is || is.values === 0 || is.sum === 0) continue;
            if (was.values === is.values && was.sum === is.sum) open.push({ name, type, why: 'unchanged' });
          }
        }
        refuse(open);
        return classifiedItems([...itemsOf(contents), ...stored, ...items], ledger);
      });
    },
  };
}

const classifiedText = ({ columns }: CatalogContents): string =>
  `${formatNumberOf(columns.length, 'column')} classified`;
const storedText = (items: ClassifiedItems): string => `${formatNumberOf(items.length, 'entry', 'entries')} in force`;

function stateOf(ledger: Ledger, name: string): LedgerEntry['state'] | undefined {
  return entryOf(name, ledger)?.state;
}

const CHECKED = new Set<LedgerEntry['state']>(['changed', 'empty']);

/** A name with a dot could be that of another column. */
function keepOf(facts: ColumnFacts, entry: LedgerEntry | undefined): KeepComment[] {
  const isPlain = [facts.schema, facts.table, facts.column].every((part) => !part.includes('.'));
  if (entry?.state !== 'kept' || !isPlain) return [];
  return [{ column: columnName(facts), reason: entry.reason ?? '', line: 0 }];
}

interface ComparedDigests {
  before: Map<string, ColumnDigest>;
  after: Map<string, ColumnDigest>;
  ledger: Ledger;
  types: Map<string, string>;
  facts: Map<string, ColumnFacts>;
}

/** Columns whose values are not as the ledger says. */
function contradictions({ before, after, ledger, types, facts }: ComparedDigests): OpenItem[] {
  return [...after].flatMap(([name, digest]): OpenItem[] => {
    const item = { name, type: types.get(name) ?? 'column' };
    if (stateOf(ledger, name) === 'empty') return digest.values > 0 ? [{ ...item, why: 'not_empty' }] : [];
    const own = facts.get(name);
    return own && isUnchanged(before.get(name), digest, own) ? [{ ...item, why: 'unchanged' }] : [];
  });
}

function withRows(stored: ReturnType<typeof storedItems>, ledger: Ledger): OpenItem[] {
  return stored
    .filter(({ name, rows }) => rows > 0 && stateOf(ledger, name) === 'excluded')
    .map(({ name, type }) => ({ name, type, why: 'not_excluded' }));
}

function classifiedItems(items: LedgerItem[], ledger: Ledger): ClassifiedItems {
  const entries = new Map<string, ClassifiedItems[number]>();
  for (const { name, values } of items) {
    const state = stateOf(ledger, name);
    if (state === undefined || state === 'open') continue;
    const listed = values ?? entries.get(name)?.values;
    entries.set(name, { name, state, ...(listed && { values: listed }) });
  }
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export interface RefusedTarget {
  configuration: Configuration;
  target: string;
}

const MOST_NAMED = 50;

function assertNoneOpen(open: OpenItem[], { configuration, target }: RefusedTarget): void {
  if (open.length === 0) return;
  const ledger = ledgerPath({ configuration, target });
  const listed = open.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const more = open.length - MOST_NAMED;
  const what = formatNumberOf(open.length, 'entry of the ledger is', 'entries of the ledger are');
  throw new UserError('unclassified', `Nothing of "${target}" is published: ${what} missing or not true`, {
    details: [...listed.slice(0, MOST_NAMED).map(openItemText), ...(more > 0 ? [`and ${more} more`] : [])],
    hint: `Classify them in ${ledger ?? 'sanitize.lock.yml'}: ${shell`tool sanitize classify ${target}`}`,
  });
}
