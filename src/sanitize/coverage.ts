import { filesOfTable, type ManifestTable } from '../repository/manifest/manifest.ts';
import type { ChangedColumn, Coverage, TableCoverage, UnsanitizedColumn } from '../results/review/sanitize-results.ts';
import { type ColumnDigest, columnName } from './column-facts.ts';
import type { Suspicion } from './detector/detect.ts';
import { PERSONAL_KINDS, type PersonalKind } from './detector/kinds.ts';
import type { KeepComment } from './keep-comments.ts';

export interface TableComparison {
  before: ManifestTable[];
  after: ManifestTable[];
  /** Tables with the same rows in another order. */
  reordered: Set<string>;
  /** Reports whether a statement of the query names the table. */
  isNamed: (table: string) => boolean;
}

export function compareTables({ before, after, reordered, isNamed }: TableComparison): TableCoverage[] {
  const then = new Map(before.map((table) => [table.name, table]));
  const now = new Map(after.map((table) => [table.name, table]));
  const names = [...new Set([...then.keys(), ...now.keys()])].sort();
  return names.map((name) => {
    const [old, later] = [then.get(name), now.get(name)];
    const state = reordered.has(name) ? 'untouched' : stateOfTable(old, later);
    const indirect = state !== 'untouched' && !isNamed(name);
    return { name, state, rows_before: old?.rows ?? null, rows_after: later?.rows ?? null, indirect };
  });
}

function stateOfTable(before: ManifestTable | undefined, after: ManifestTable | undefined): TableCoverage['state'] {
  if (!after) return 'dropped';
  if (!before) return 'added';
  if (contentOf(before) === contentOf(after)) return 'untouched';
  return after.rows === 0 ? 'emptied' : 'changed';
}

/** Equal for the same rows in the same order. */
export function contentOf(table: ManifestTable): string {
  return filesOfTable(table)
    .map(({ sha256 }) => sha256)
    .join();
}

export interface ValueComparison {
  suspicions: Suspicion[];
  before: Map<string, ColumnDigest>;
  after: Map<string, ColumnDigest>;
  samplesAfter: Map<string, string[]>;
  keep: KeepComment[];
}

/** A column of empty texts has as little to change as one of NULL. */
export function hasNoValue(digest: ColumnDigest | undefined): boolean {
  return digest !== undefined && (digest.values === 0 || digest.digest === NO_HASHES);
}

const NO_HASHES = '0';

const SHOWN_SAMPLES = 3;

/** The columns with values that look like personal data: unchanged ones, acknowledged ones, changed ones. */
export function compareColumns({
  suspicions,
  before,
  after,
  samplesAfter,
  keep,
}: ValueComparison): Omit<Coverage, 'tables' | 'common'> {
  const kept = new Map(keep.map(({ column, reason }) => [column, reason]));
  const findings: UnsanitizedColumn[] = [];
  const acknowledged: Coverage['acknowledged'] = [];
  const changed: ChangedColumn[] = [];
  for (const suspicion of suspicions) {
    const { facts, kind, by } = suspicion;
    const column = columnName(facts);
    if (hasNoValue(before.get(column))) continue;
    const state = stateOf(suspicion, before.get(column), after.get(column));
    const shownColumn = {
      ...{ column, kind, meaning: PERSONAL_KINDS[kind] },
      samples: shown(facts.samples),
      samples_after: shown(samplesAfter.get(column) ?? []),
    };
    if (state === 'changed') {
      changed.push(shownColumn);
      continue;
    }
    const values = after.get(column)?.values ?? 0;
    const count = { values, original_values: state === 'unchanged' ? values : null, from: [column] };
    const finding: UnsanitizedColumn = { ...shownColumn, by, state, generated: facts.generated, ...count };
    const reason = kept.get(column);
    if (reason === undefined) findings.push(finding);
    else acknowledged.push({ column, kind, reason });
  }
  return { findings, acknowledged, changed };
}

/** Values of the original that a search has found in the result. */
export interface Leak {
  /** `schema.table.column`, or `schema.object.(kind)` of a definition. */
  column: string;
  values: number;
  count: number;
  /** Columns of the original, the most frequent first. */
  from: string[];
  /** A few original values without blanks and signs, to be masked. */
  samples: string[];
}

export interface Leaks {
  found: Leak[];
  /** Common words below the share of a finding. */
  common: Leak[];
}

export interface FoundLeaks extends Leaks {
  suspicions: Suspicion[];
  keep: KeepComment[];
}

/** Adds the columns with original values to the findings, or to those that a comment keeps. */
export function addLeaks(
  compared: Omit<Coverage, 'tables' | 'common'>,
  { found, common, suspicions, keep }: FoundLeaks,
): Omit<Coverage, 'tables'> {
  const kept = new Map(keep.map(({ column, reason }) => [column, reason]));
  const known = new Map(suspicions.map((suspicion) => [columnName(suspicion.facts), suspicion]));
  const changed = new Map(compared.changed.map((column) => [column.column, column]));
  const findings = new Map(compared.findings.map((finding) => [finding.column, finding]));
  const acknowledged = new Map(compared.acknowledged.map((column) => [column.column, column]));
  for (const { column, values, count, from, samples } of found) {
    const [earlier, own] = [findings.get(column), known.get(column)];
    if (earlier) {
      findings.set(column, { ...earlier, original_values: count, from });
      continue;
    }
    const kind = own?.kind ?? known.get(from[0] ?? '')?.kind ?? 'free_text';
    const reason = kept.get(column);
    if (reason !== undefined) acknowledged.set(column, { column, kind, reason });
    else {
      const masked = shown(samples);
      findings.set(column, {
        ...{ column, kind, meaning: PERSONAL_KINDS[kind], by: own?.by ?? 'values' },
        state: changed.has(column) ? 'partly' : 'leaked',
        generated: own?.facts.generated ?? false,
        ...{ values, original_values: count, from },
        samples: changed.get(column)?.samples ?? masked,
        samples_after: masked,
      });
    }
    changed.delete(column);
  }
  return {
    findings: [...findings.values()],
    acknowledged: [...acknowledged.values()],
    changed: [...changed.values()],
    common: common
      .filter(({ column }) => !acknowledged.has(column) && !findings.has(column))
      .map(({ column, values, count, from }) => ({ column, values, original_values: count, from })),
  };
}

function shown(samples: string[]): string[] {
  return samples.slice(0, SHOWN_SAMPLES).map(maskValue);
}

/** Kinds whose values are nearly unique, so that a remaining value is an old one. */
const TELLING = new Set<PersonalKind>(['email', 'login', 'phone', 'national_id', 'iban', 'card', 'secret']);
const NEARLY_UNIQUE = 0.9;
/** Below this length new values often equal old ones: the code of a card. */
const LEAST_LENGTH = 7;

/**
 * `unchanged`: the same values, in any order; `partly`: some samples remain. Where values repeat (first names) or are
 * close together (dates of birth), new values may equal old ones.
 */
function stateOf(
  { facts: { sampled, distinct, samples }, kind }: Suspicion,
  before: ColumnDigest | undefined,
  after: ColumnDigest | undefined,
): 'changed' | UnsanitizedColumn['state'] {
  if (!before || !after || after.values === 0) return 'changed';
  if (before.values === after.values && before.digest === after.digest) return 'unchanged';
  const long = samples.filter((sample) => sample.length >= LEAST_LENGTH).length * 2 > samples.length;
  const telling = TELLING.has(kind) && long && distinct / sampled >= NEARLY_UNIQUE;
  return telling && after.surviving > 0 ? 'partly' : 'changed';
}

const LONGEST = 40;

/** Keeps only the first character and the punctuation. */
export function maskValue(value: string): string {
  const line = value.replaceAll(/\s+/g, ' ').trim();
  const masked = line.replaceAll(/[\p{L}\p{N}]/gu, '*');
  const first = line.match(/^./u)?.[0] ?? '';
  const shown = line.length > 2 ? first + masked.slice(first.length) : masked;
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}
