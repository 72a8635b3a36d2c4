import type { Coverage, SanitizeFinding, TableCoverage } from '../results.ts';
import type { ManifestTable } from '../snapshots/manifest.ts';
import { type ColumnDigest, columnName } from './column-facts.ts';
import type { Suspicion } from './detector/detect.ts';
import { PERSONAL_KINDS } from './detector/kinds.ts';
import type { KeepComment } from './keep-comments.ts';
import { maskValue } from './mask.ts';

/** What became of each table: by the hashes of their content, which differ when any row does. */
export function compareTables(before: ManifestTable[], after: ManifestTable[]): TableCoverage[] {
  const then = new Map(before.map((table) => [table.name, table]));
  const now = new Map(after.map((table) => [table.name, table]));
  const names = [...new Set([...then.keys(), ...now.keys()])].sort();
  return names.map((name) => {
    const [old, fresh] = [then.get(name), now.get(name)];
    const state = fateOf(old, fresh);
    return { name, state, rows_before: old?.rows ?? null, rows_after: fresh?.rows ?? null };
  });
}

function fateOf(before: ManifestTable | undefined, after: ManifestTable | undefined): TableCoverage['state'] {
  if (!after) return 'dropped';
  if (!before) return 'added';
  if (before.file.sha256 === after.file.sha256) return 'untouched';
  return after.rows === 0 ? 'emptied' : 'changed';
}

export interface Comparison {
  suspicions: Suspicion[];
  before: Map<string, ColumnDigest>;
  after: Map<string, ColumnDigest>;
  keep: KeepComment[];
}

const SHOWN_SAMPLES = 3;

/** Columns that look personal and whose values are still there, those that the query's author lets stay apart. */
export function compareColumns({ suspicions, before, after, keep }: Comparison): Omit<Coverage, 'tables'> {
  const kept = new Map(keep.map(({ column, reason }) => [column, reason]));
  const findings: SanitizeFinding[] = [];
  const acknowledged: Coverage['acknowledged'] = [];
  for (const { facts, kind, by } of suspicions) {
    const column = columnName(facts);
    const state = stateOf(facts, before.get(column), after.get(column));
    if (state === 'changed') continue;
    const finding: SanitizeFinding = {
      column,
      kind,
      meaning: PERSONAL_KINDS[kind],
      by,
      state,
      generated: facts.generated,
      values: after.get(column)?.values ?? 0,
      samples: facts.samples.slice(0, SHOWN_SAMPLES).map(maskValue),
    };
    const reason = kept.get(column);
    if (reason === undefined) findings.push(finding);
    else acknowledged.push({ column, kind, reason });
  }
  return { findings, acknowledged };
}

/** Of a column with hardly any value twice this much is told apart from chance. */
const NEARLY_UNIQUE = 0.9;
const ENOUGH_SAMPLES = 5;

/**
 * `unchanged`: the same values, in whatever order; `partly`: a column whose values are nearly all different still has
 * some of the old ones. Where values repeat, such as first names, new ones may well be among the old.
 */
function stateOf(
  { sampled, distinct, samples }: Suspicion['facts'],
  before: ColumnDigest | undefined,
  after: ColumnDigest | undefined,
): 'changed' | SanitizeFinding['state'] {
  if (!before || !after || after.values === 0) return 'changed';
  if (before.values === after.values && before.digest === after.digest) return 'unchanged';
  const telling = samples.length >= ENOUGH_SAMPLES && distinct / sampled >= NEARLY_UNIQUE;
  return telling && after.surviving > 0 ? 'partly' : 'changed';
}
