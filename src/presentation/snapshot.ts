import { keyText } from '../config/keys/keys-in-effect.ts';
import { ENGINE_PROFILES } from '../engines/list.ts';
import type { DumpOrigin } from '../results/manifest/dump-origin.ts';
import type { GitState } from '../results/manifest/git-state.ts';
import type { SnapshotLocation, SnapshotRow, SnapshotSignature } from '../results/results.ts';
import type { SubsetPlanResult } from '../results/subset-results.ts';
import { boundedList } from '../text/bounded-list.ts';
import { formatAge, formatBytes, formatCount, formatNumberOf, formatPartOf, formatTime } from '../text/format.ts';
import { definitionsOnlyText, excludedRowsText, hiddenText, leftOutText, lostSchemas } from '../text/format-objects.ts';
import { printable } from '../text/printable.ts';
import { shell } from '../text/shell-word.ts';
import type { Cell } from './shapes/column.ts';
import { type Fact, NO_DESTINATION, urlFact } from './shapes/fact.ts';
import type { DataKind } from './shapes/glyphs.ts';

export const ENGINE_NAMES = Object.fromEntries(ENGINE_PROFILES.map(({ id, products }) => [id, products[0]])) as Record<
  SnapshotRow['engine'],
  string
>;

type SnapshotName = Pick<SnapshotRow, 'index' | 'id' | 'sanitized'>;

/** `RAW`: original data; `SAFE`: sanitized. */
export function kindBadge(sanitized: boolean): Cell & { text: DataKind } {
  return sanitized ? { text: 'SAFE', tone: 'good' } : { text: 'RAW', tone: 'caution' };
}

/** `8c41f2ab RAW` */
export function briefName({ id, sanitized }: SnapshotName): string {
  return `${id} ${kindBadge(sanitized).text}`;
}

/** `snapshot 0 of app (8c41f2ab RAW)` */
export function snapshotName(target: string, snapshot: SnapshotName): string {
  return `snapshot ${snapshot.index} of ${target} (${briefName(snapshot)})`;
}

/** Every original before what was made of it, otherwise as given: newest data first. */
export function inFamilies(rows: SnapshotRow[]): SnapshotRow[] {
  const families = Map.groupBy(rows, ({ index }) => index);
  return [...families.values()].flatMap((family) =>
    family.toSorted((a, b) => Number(a.sanitized) - Number(b.sanitized)),
  );
}

/** The snapshots that their index selects: in each family the first, in the order of the operations. */
export function selectedByIndex(rows: SnapshotRow[]): Set<string> {
  return new Set([...Map.groupBy(rows, ({ index }) => index).values()].flatMap(([first]) => (first ? [first.id] : [])));
}

/** `25 tables, 200,123 rows, 48.3 MB` */
export function contentsText({
  tables,
  rows,
  size_bytes,
}: Pick<SnapshotRow, 'tables' | 'rows' | 'size_bytes'>): string {
  return `${formatNumberOf(tables, 'table')}, ${formatNumberOf(rows, 'row')}, ${formatBytes(size_bytes)}`;
}

/** `8c41f2ab RAW, created 3 h ago (2026-11-21 05:22), index 0`; where room is short, what the subject of a plan lacks. */
export function snapshotFact(snapshot: SnapshotRow, now: Date): Fact {
  const { index, created_at } = snapshot;
  const age = formatAge(now.getTime() - Date.parse(created_at));
  const value = `${briefName(snapshot)}, created ${age} (${formatTime(created_at)}), index ${index}`;
  return { name: 'Snapshot', value, brief: `created ${age}, index ${index}` };
}

/** `local + remote` */
export function locationText(places: SnapshotLocation[]): string {
  return places.join(' + ');
}

/** States whether the data of a plan is sanitized, and why; where room is short, the badge of its subject shows it. */
export function dataFact({
  sanitized,
  sanitized_reason,
}: Pick<SubsetPlanResult, 'sanitized' | 'sanitized_reason'>): Fact {
  const brief = sanitized === null ? 'not known to be sanitized' : sanitized ? 'sanitized' : 'NOT sanitized';
  const badge = sanitized === null ? '' : `${kindBadge(sanitized).text}, `;
  const tone = sanitized === true ? 'good' : 'caution';
  return { name: 'Data', value: `${badge}${brief}: ${sanitized_reason}`, brief: sanitized === null ? brief : '', tone };
}

/** `valid, by a trusted key (ed25519-…)` */
function signatureText({ state, key }: SnapshotSignature): string {
  return key === null ? SIGNATURES[state] : `${SIGNATURES[state]} (${key})`;
}

export function signatureFact(signature: SnapshotSignature): Fact {
  return { name: 'Signature', value: signatureText(signature), brief: SIGNATURES[signature.state] };
}

const SIGNATURES: Record<SnapshotSignature['state'], string> = {
  none: 'none',
  invalid: 'does not match the manifest',
  unchecked: 'not verified yet',
  valid: 'valid',
  trusted: 'valid, by a trusted key',
  untrusted: 'valid, not by a trusted key',
};

/** The same in a word, for a column. */
export function signatureWord({ state }: SnapshotSignature): string {
  return state === 'unchecked' ? 'not verified' : state;
}

/** `28/28`: columns that the query changed, of those that look like personal data. */
export function coverageText({ coverage }: SnapshotRow): string {
  return coverage === undefined ? '' : `${coverage.changed}/${coverage.columns}`;
}

function coverageFacts({ coverage }: SnapshotRow): Fact[] {
  if (coverage === undefined) return [];
  const { columns, changed, kept, unchanged } = coverage;
  const words = [
    `${changed === columns ? `all ${formatNumberOf(columns, 'personal column')}` : formatPartOf(changed, columns, 'personal column')} changed`,
    ...(kept > 0 ? [`${kept} kept by a comment`] : []),
    ...(unchanged.length > 0 ? [`original values in ${boundedList(unchanged, MOST_UNCHANGED)}`] : []),
  ];
  const value = columns === 0 && unchanged.length === 0 ? 'no column looks like personal data' : words.join('; ');
  return [{ name: 'Coverage', value, tone: unchanged.length > 0 ? 'caution' : 'good' }];
}

const MOST_UNCHANGED = 5;

/** `without app (10 tables, 580 MB)`: schemas that a snapshot lacks, and no setting excludes. */
export function lostFacts({ left_out_schemas = [] }: SnapshotRow): string[] {
  const lost = lostSchemas(left_out_schemas);
  return lost.length === 0 ? [] : [`without ${leftOutText(lost)}`];
}

export function lostNames({ left_out_schemas = [] }: SnapshotRow): { lostSchemas?: string[] } {
  const lost = lostSchemas(left_out_schemas);
  return lost.length === 0 ? {} : { lostSchemas: lost.map(({ schema }) => schema) };
}

/** Returns facts about its build, and about missing parts. */
export function lackingFacts(snapshot: SnapshotRow): Fact[] {
  const { program, left_out_schemas = [], definitions_only, excluded_rows, hidden } = snapshot;
  const facts: [name: string, value: string, tone?: 'caution' | undefined][] = [
    ['Program', program === undefined ? '' : `built with ${program}; the server's own client loads the rows`],
    ['Left out', leftOutText(left_out_schemas), lostSchemas(left_out_schemas).length > 0 ? 'caution' : undefined],
    ['No rows', definitionsOnlyText(definitions_only ?? [])],
    ['Rows excluded', excluded_rows ? excludedRowsText(excluded_rows) : ''],
    ['Hidden', hiddenText(hidden ?? []), 'caution'],
  ];
  return facts.flatMap(([name, value, tone]) => (value === '' ? [] : [{ name, value, ...(tone && { tone }) }]));
}

/** Returns the missing parts of the snapshots, a line for those that lack the same. */
export function lackingLines(snapshots: SnapshotRow[]): string[] {
  const lines = (textOf: (row: SnapshotRow) => string, say: (which: string) => string): string[] => {
    const lacking = snapshots.filter((row) => textOf(row) !== '');
    return [...Map.groupBy(lacking, textOf)].map(([text, rows]) => {
      const indexes = [...new Set(rows.map(({ index }) => index))];
      return `${say(`${indexes.length === 1 ? 'snapshot' : 'snapshots'} ${indexes.join(', ')}`)}: ${text}`;
    });
  };
  return [
    ...lines(
      ({ left_out_schemas = [] }) => leftOutText(left_out_schemas),
      (which) => `Not in ${which}`,
    ),
    ...lines(
      ({ excluded_rows: rows }) => (rows ? excludedRowsText(rows) : ''),
      (which) => `Rows not in ${which}`,
    ),
    ...lines(
      ({ hidden = [] }) => hiddenText(hidden),
      (which) => `Not in ${which}, hidden from its user`,
    ),
  ];
}

export function noSnapshotsLines(target: string, { shares, byKey }: { shares: boolean; byKey: boolean }): string[] {
  if (shares) return [`No sanitized snapshot is shared with target ${target} yet.`, 'Others share with: tool push'];
  const how = byKey ? `Press ${keyText('build')} to build one.` : `Build one with: ${shell`tool build ${target}`}`;
  return [`Target ${target} has no snapshots yet.`, how];
}

export function tagsText(tags: string[] = []): string {
  return printable(tags.join(' '));
}

/** Git repository and migrations, where they were recorded. */
function originFacts({ git, migrations = [], dump }: SnapshotRow): Fact[] {
  return [
    ...(dump ? [{ name: 'Imported', value: dumpText(dump) }] : []),
    ...(git ? [{ name: 'Git', value: gitText(git) }] : []),
    ...migrations.map(({ tool, count, newest }) => ({
      name: 'Migrations',
      value: printable(`${formatCount(count)} of ${tool}, newest ${newest}`),
    })),
  ];
}

/** `shop.dump (12 MB, written 1 Nov 2026, 03:00) of server 15.8` */
function dumpText({ file, bytes, modified_at, server_version }: DumpOrigin): string {
  const of = server_version === null ? '' : ` of server ${server_version}`;
  return printable(`${file} (${formatBytes(bytes)}, written ${formatTime(modified_at)})${of}`);
}

/** `branch main at 1a2b3c4d5e, with changes, of https://git.example.com/app.git` */
function gitText({ repository, branch, commit, clean }: GitState): string {
  const changes = { true: '', false: ', with changes', null: '' }[`${clean}`];
  const at = commit === null ? '' : ` at ${commit.slice(0, 10)}`;
  const of = repository === null ? '' : `, of ${repository}`;
  return printable(`${branch === null ? 'no branch' : `branch ${branch}`}${at}${changes}${of}`);
}

export function snapshotFacts(row: SnapshotRow, destination: string | null): Fact[] {
  const noteFact = { name: 'Note', value: row.note ?? `none: press ${keyText('edit')} to add one` };
  const { created_at, engine, server_version, schemas, size_bytes, stored_bytes, where, signature, note } = row;
  return [
    // First, where a low window does not cut it.
    ...(note === null ? [] : [noteFact]),
    ...(row.pinned ? [{ name: 'Pinned', value: 'no prune removes it' }] : []),
    ...(row.tags ? [{ name: 'Tags', value: tagsText(row.tags) }] : []),
    { name: 'Created', value: `${formatTime(created_at)} from ${ENGINE_NAMES[engine]} ${server_version}` },
    {
      name: 'Contents',
      value: `${formatNumberOf(row.tables, 'table')}, ${formatNumberOf(row.rows, 'row')} in ${schemas.join(', ')}`,
    },
    ...coverageFacts(row),
    ...(row.query_file ? [{ name: 'Query', value: row.query_file }] : []),
    ...lackingFacts(row),
    ...originFacts(row),
    { name: 'Size', value: `${formatBytes(size_bytes)}, of which ${formatBytes(stored_bytes)} new` },
    { name: 'Location', value: locationText(where) },
    ...(row.image ? [{ name: 'Image', value: 'stored: a server starts without a load' }] : []),
    ...(row.restored_at ? [{ name: 'Restored', value: `as a proof, ${formatTime(row.restored_at)}` }] : []),
    { name: 'Signature', value: signatureText(signature), short: SIGNATURES[signature.state] },
    ...(note === null ? [noteFact] : []),
    urlFact('Loads into', destination, NO_DESTINATION),
  ];
}

export const FREED = 'not shared with another snapshot; what is younger than a day, by a later removal';
