import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { maskValue } from '../../../sanitize/coverage.ts';
import { entryOf, type Ledger, type LedgerEntry, type LedgerState } from '../../../sanitize/ledger/ledger.ts';
import { updateLedger } from '../../../sanitize/ledger/ledger-file.ts';
import type { PathKey } from '../../../sanitize/ledger/ledger-item.ts';
import { type ClassifyRequest, type Evidence, type ExaminedItem, examine, saveEntries } from './classify.ts';

/** An unclassified item of the ledger. */
export interface ReviewedItem {
  name: string;
  type: string;
  /** The values of its enumeration. */
  values?: string[];
  entry: LedgerEntry;
  /** Table of the column, as the ledger names it; `null` of large objects. */
  table: string | null;
  /** Up to three, masked, of the original. */
  samples: string[];
  /** Values that are not null, in the result; `null` where unknown. */
  valuesLeft: number | null;
  /** Rows of the table in the result; `null` where unknown. */
  rows: number | null;
}

export interface LedgerReview {
  file: string;
  open: ReviewedItem[];
  /** Columns with their states, by table. */
  tables: Map<string, { name: string; column: string; state: LedgerState }[]>;
}

/** Adds what the ledger lacks, as `classify` does, and returns what is open. Steps: those of a sanitization. */
export async function reviewLedger(context: Context, request: ClassifyRequest): Promise<LedgerReview> {
  const { items, evidence } = await examine(context, request);
  const { file, open } = await saveEntries(context, { target: request.target, items });
  const tables: LedgerReview['tables'] = new Map();
  for (const { name, entry } of items) {
    const facts = evidence.facts.get(name);
    if (!facts) continue;
    const table = tableOf(name, facts.column);
    tables.set(table, [...(tables.get(table) ?? []), { name, column: facts.column, state: entry.state }]);
  }
  const isOpen = new Set(open.map(({ name }) => name));
  return {
    file,
    tables,
    open: items.filter(({ name }) => isOpen.has(name)).map((item) => reviewedItem(item, evidence)),
  };
}

export interface LedgerAnswer {
  target: string;
  name: string;
  entry: LedgerEntry;
  /** The entry that was shown with the question. */
  replaces: LedgerEntry;
}

/** Writes the entry of one item, unless another person has changed it meanwhile. Other entries stay as they are in the file by now. */
export async function answerItem(
  { configuration }: Pick<Context, 'configuration'>,
  { target, name, entry, replaces }: LedgerAnswer,
): Promise<string> {
  return updateLedger({ configuration, target }, (before): Ledger => {
    const present = entryOf(name, before);
    if (present?.state === replaces.state && present.reason === replaces.reason)
      return new Map(before).set(name, entry);
    throw new UserError('file_not_written', `${name} is ${present?.state ?? 'not in the ledger'} by now`, {
      hint: 'Another session has changed the ledger. Open its columns again.',
    });
  });
}

const SHOWN_SAMPLES = 3;

function reviewedItem({ name, type, values, entry }: ExaminedItem, evidence: Evidence): ReviewedItem {
  const path = evidence.is.get(name);
  const column = path?.column ?? columnOf(name, evidence);
  const facts = column === null ? undefined : evidence.facts.get(column);
  const samples = (facts?.samples ?? []).flatMap((sample) => (path ? valueAt(sample, path.path) : [sample]));
  return {
    ...{ name, type, entry, ...(values && { values }) },
    table: facts && column !== null ? tableOf(column, facts.column) : null,
    samples: [...new Set(samples.map(maskValue))].filter((sample) => sample !== '').slice(0, SHOWN_SAMPLES),
    valuesLeft: path?.values ?? evidence.after.get(name)?.values ?? null,
    rows: evidence.rows.get(column ?? name) ?? null,
  };
}

/** The column of a field of its type: `public.person.address->street`. */
function columnOf(name: string, { facts }: Evidence): string | null {
  if (facts.has(name)) return name;
  return [...facts.keys()].find((column) => name.startsWith(`${column}->`)) ?? null;
}

/** `public.person` of `public.person.email`; the name of a column may be quoted. */
function tableOf(name: string, column: string): string {
  const quoted = `."${column.replaceAll('"', '""')}"`;
  return name.slice(0, -(name.endsWith(quoted) ? quoted.length : column.length + 1));
}

/** The value of a key in a document, if the sample is a whole one. */
function valueAt(sample: string, path: readonly PathKey[]): string[] {
  let value: unknown;
  try {
    value = JSON.parse(sample);
  } catch {
    return [];
  }
  for (const key of path) {
    if (Array.isArray(value)) value = value[0];
    if (typeof value !== 'object' || value === null) return [];
    value = key === null ? Object.values(value)[0] : Object.entries(value).find(([own]) => own === key)?.[1];
  }
  if (value === undefined || value === null) return [];
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)];
}
