import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { Cell, Column } from '../../presentation/shapes/column.ts';
import { type Fact, NO_DESTINATION, urlFact } from '../../presentation/shapes/fact.ts';
import type { Glyphs } from '../../presentation/shapes/glyphs.ts';
import { ENGINE_NAMES, kindBadge } from '../../presentation/snapshot.ts';
import type { HubState } from '../../results/cloud-results.ts';
import type { Mode } from '../../results/configuration/configuration-results.ts';
import type { Contents, TargetInfo, TargetRow } from '../../results/results.ts';
import type { SnapshotSizes, TargetEntry } from '../../state/targets.ts';
import { formatAge, formatBytes, formatCount, formatTime } from '../../text/format.ts';
import { sparkline } from '../../text/sparkline.ts';
import { branchesDetail, copiesBytes, copiesLines, copyDetail, copyFact } from '../load/copies-text.ts';
import { serversText } from '../servers/list/text.ts';
import { NONE_ON_HUB, SIGN_IN } from './find-target.ts';
import { clockTime, latenessOf, STATUSES, statusCell, statusFact } from './status-text.ts';

export const MODES: Record<Mode, string> = {
  local: 'Local mode (no authtoken)',
  cloud: 'Cloud mode',
};

export const GROUP_NAMES: Record<TargetRow['type'], string> = {
  local: 'Local',
  cloud: 'Cloud',
  share: 'Shared',
};

interface ColumnsOptions {
  glyphs: Glyphs;
  now: number;
  /** Sizes of the newest snapshots, by target. */
  sizes?: ReadonlyMap<string, SnapshotSizes>;
  /** A run is shown in place of the status of some target. */
  running?: boolean;
  /** In a pane above the facts, which have the reason of a status. */
  brief?: boolean;
  /** In a pane with room for little more than the names. */
  narrow?: boolean;
}

/** Title of the column in which a run takes the place of the status. */
export const STATUS_TITLE = 'STATUS';

const WIDEST_RUN = '⠋ sanitize 100%'.length;

/** Columns of targets by name: each list takes those for which it has room. */
function columnsOf({ glyphs, now, sizes, running = false }: ColumnsOptions) {
  const known = <Value>(value: Value | null, format: (value: Value) => string): Cell =>
    value === null ? { text: glyphs.none, tone: 'dim' } : { text: format(value) };
  return {
    name: { title: 'TARGET', max: 28, cell: ({ row }) => ({ text: row.name }) },
    title: { title: 'TITLE', cell: ({ row }) => ({ text: row.title }) },
    type: { title: 'TYPE', cell: ({ row }) => ({ text: row.type }) },
    engine: { title: 'ENGINE', cell: ({ row }) => ({ text: engineText(row) ?? glyphs.none }) },
    status: {
      title: STATUS_TITLE,
      whole: true,
      ...(running && { min: WIDEST_RUN }),
      cell: (entry) => statusCell(entry, glyphs),
      brief: (entry) => statusCell(entry, glyphs, ({ status }) => STATUSES[status].word),
    },
    size: {
      title: 'SIZE',
      align: 'right',
      whole: true,
      dropRank: 1,
      cell: ({ row }) => known(row.size_bytes, formatBytes),
    },
    latest: {
      title: 'LATEST',
      whole: true,
      cell: ({ row }) => known(row.last_snapshot_at, (at) => formatAge(now - Date.parse(at))),
    },
    snapshots: {
      title: 'SNAPSHOTS',
      align: 'right',
      dropRank: 2,
      cell: ({ row }) => ({ text: formatCount(row.snapshots), tone: row.snapshots === 0 ? 'dim' : 'plain' }),
    },
    /** Sizes of the newest snapshots, the latest at the right. */
    trend: {
      title: 'TREND',
      whole: true,
      dropRank: 6,
      cell: ({ row }) => ({ text: sparkline(sizes?.get(row.name)?.sizes ?? [], glyphs), tone: 'accent' }),
    },
    storage: { title: 'STORAGE', max: 20, dropRank: 3, cell: ({ row }) => known(row.storage_profile, String) },
    latency: {
      title: 'LATENCY',
      align: 'right',
      dropRank: 4,
      cell: ({ row }) => known(row.latency_ms, (latency) => `${Math.round(latency)} ms`),
    },
    /** Host, port and database. */
    place: {
      title: 'SOURCE',
      grows: true,
      dropRank: 5,
      cell: ({ row }) => ({ text: row.src_url?.replace(/^\w+:\/\/([^@/]*@)?/, '') ?? glyphs.none, tone: 'dim' }),
    },
    source: { title: 'SOURCE', cell: ({ row }) => known(row.src_url, String) },
    destination: { title: 'DESTINATION', cell: ({ row }) => known(row.dst_url, String) },
  } satisfies Record<string, Column<TargetEntry>>;
}

/** For the width of a screen: columns that the detail pane repeats are dropped first. */
export function briefTargetColumns(entries: TargetEntry[], options: ColumnsOptions): Column<TargetEntry>[] {
  const { name, status: full, size, latest, snapshots, trend, storage, latency, place } = columnsOf(options);
  const status = options.brief ? { ...full, cell: full.brief } : full;
  const hasStorage = entries.some(({ row }) => row.storage_profile !== null);
  const hasTrend = entries.some((entry) => trend.cell(entry).text !== '');
  if (options.narrow) return [name, status, size];
  return [
    ...[name, status, size, latest, snapshots, ...(hasTrend ? [trend] : [])],
    ...[...(hasStorage ? [storage] : []), latency, place],
  ];
}

/** For a terminal and for files. Name, status and size are in every width. */
export function targetColumns(entries: TargetEntry[], options: ColumnsOptions): Column<TargetEntry>[] {
  const { name, title, type, engine, status, latency, size, snapshots, storage, source, destination } =
    columnsOf(options);
  const ranked = (column: Column<TargetEntry>, dropRank: number): Column<TargetEntry> => ({ ...column, dropRank });
  const titled = entries.some(({ row }) => row.title !== row.name);
  return [
    ...[name, ...(titled ? [ranked(title, 8)] : []), ranked(type, 5), ranked(engine, 3), status, ranked(latency, 9)],
    ...[ranked(size, 0), ranked(snapshots, 1), ranked(storage, 4), ranked(source, 7), ranked(destination, 6)],
  ];
}

/** Returns an entry of a list that was read once: nothing is being checked. */
export function checkedEntry(row: TargetRow): TargetEntry {
  return { row, checkedAt: 0, checking: false };
}

function engineText({ engine, server_version }: TargetRow): string | null {
  return engine && [ENGINE_NAMES[engine], server_version].filter(Boolean).join(' ');
}

/** Returns the state of a target, for the pane beside the list. */
export function targetFacts(entry: TargetEntry, now: number): Fact[] {
  const { row } = entry;
  const size = row.size_bytes === null ? '' : `, ${formatBytes(row.size_bytes)}`;
  return [
    { name: 'Status', ...statusFact(entry) },
    urlFact('Source', row.src_url, 'none'),
    row.permissions === undefined
      ? { name: 'Server', value: (engineText(row) ?? 'unknown') + size }
      : { name: 'Shared', value: sharedText(row) },
    urlFact('Loads into', row.dst_url, NO_DESTINATION),
    ...(row.contents === undefined ? [] : [{ name: 'Holds', ...holdsFact(row, now) }]),
    ...(row.copies?.base ? [{ name: 'Base copy', ...copyFact(row.copies.base) }] : []),
    ...(row.copies?.spare ? [{ name: 'Spare', ...copyFact(row.copies.spare) }] : []),
    ...(row.copies?.branches ? [{ name: 'Branches', value: branchesDetail(row.copies.branches) }] : []),
    ...(row.servers?.length ? [{ name: 'Servers', value: serversText(row.servers, new Date(now)) }] : []),
    row.snapshots === 0
      ? { name: 'Snapshots', value: noSnapshotsText(row) }
      : { name: 'Snapshots', value: snapshotsText(row, now), short: snapshotsText(row, now, { brief: true }) },
    ...(row.last_restore ? [{ name: 'Restored', value: restoredText(row.last_restore, now) }] : []),
  ];
}

function holdsFact({ contents, destination_missing }: TargetRow, now: number): Omit<Fact, 'name'> {
  if (destination_missing) return { value: MISSING, tone: 'dim' };
  return contents ? contentsFact(contents, now) : { value: 'unknown: no load of it is recorded', tone: 'dim' };
}

const MISSING = 'nothing: the database does not exist';

/** `8c41f2ab SAFE, loaded 12 min ago, unchanged`, `save lunch, restored 2 h ago, perhaps changed since` */
function contentsFact({ snapshot, save, sanitized, since, unchanged }: Contents, now: number): Omit<Fact, 'name'> {
  const badge = sanitized === null ? '' : ` ${kindBadge(sanitized).text}`;
  const name = save === undefined ? `${snapshot}${badge}, loaded` : `save ${save}, restored`;
  const value = `${name} ${formatAge(now - Date.parse(since))}, ${unchanged ? 'unchanged' : 'perhaps changed since'}`;
  return { value, ...(unchanged && { tone: 'good' }) };
}

function restoredText({ at, snapshot }: NonNullable<TargetRow['last_restore']>, now: number): string {
  return `${snapshot ?? 'a snapshot'} as a proof, ${formatAge(now - Date.parse(at))} (${formatTime(at)})`;
}

/** `with developers, qa; you may build and change it` */
function sharedText({ permissions = [], sso_groups: groups = [] }: TargetRow): string {
  const readers =
    groups.length > 0 ? `with ${groups.join(', ')}` : permissions.includes('push') ? 'with no group' : null;
  const verbs = [permissions.includes('push') && 'build', permissions.includes('change') && 'change'].filter(Boolean);
  const mine =
    verbs.length > 0
      ? `you may ${verbs.join(' and ')} it`
      : `you may load ${permissions.includes('read_originals') ? 'originals and sanitized' : 'sanitized'} snapshots`;
  return [readers, mine].filter(Boolean).join('; ');
}

function noSnapshotsText({ permissions }: TargetRow): string {
  return permissions === undefined || permissions.includes('push')
    ? `none yet: press ${keyText('build')} to build one`
    : 'none yet';
}

/** Why the cloud targets are not those that the hub has now; `brief` for narrow screens. */
export function hubNotice({ problem, as_of }: HubState, { now, brief }: { now: number; brief: boolean }): string {
  if (problem === 'refused') {
    const key = keyText('sign_in');
    return brief ? `Hub token refused: ${key} signs in` : `The hub refused the token: press ${key} to sign in`;
  }
  if (as_of === null) return brief ? 'Hub unreachable' : 'Hub unreachable: showing local targets only';
  const day = 86_400_000;
  const at = Date.parse(as_of);
  return `Hub unreachable: ${brief ? '' : 'showing '}data as of ${now - at < day ? clockTime(at) : formatTime(at)}`;
}

function snapshotsText(
  { type, snapshots, last_snapshot_at: last, storage_profile: profile }: TargetRow,
  now: number,
  { brief = false } = {},
): string {
  const age = last === null ? '' : formatAge(now - Date.parse(last));
  const created = brief ? `latest ${age}` : `the latest created ${age} (${last === null ? '' : formatTime(last)})`;
  const latest = last === null ? null : created;
  const also = profile === null ? null : brief ? profile : `storage profile ${profile}`;
  return [`${formatCount(snapshots)} ${type === 'cloud' ? 'on the hub' : 'local'}`, latest, also]
    .filter(Boolean)
    .join(', ');
}

/** All that is known of a target; what is not set is left out. */
export function targetInfoFacts({ info, ...row }: TargetRow & { info: TargetInfo }, now: number): Fact[] {
  const facts: [name: string, value: string | null][] = [
    ['Title', row.title === row.name ? null : row.title],
    ['Type', row.type],
    ['Engine', engineText(row)],
    ['Status', [latenessOf(row)?.word ?? STATUSES[row.status].word, row.error].filter(Boolean).join(': ')],
    ['Size', row.size_bytes === null ? null : formatBytes(row.size_bytes)],
    ['Snapshots', snapshotsText({ ...row, storage_profile: null }, now)],
    ['Restored', row.last_restore ? restoredText(row.last_restore, now) : null],
    ['Source', info.source],
    ['Destination', withOrigin(info.destination, info.destination_set_by)],
    ['Holds', row.contents || row.destination_missing ? holdsFact(row, now).value : null],
    ['Base copy', row.copies?.base ? copyDetail(row.copies.base) : null],
    ['Spare', row.copies?.spare ? copyDetail(row.copies.spare) : null],
    ['Branches', row.copies?.branches ? branchesDetail(row.copies.branches) : null],
    ['Servers', row.servers?.length ? serversText(row.servers, new Date(now)) : null],
    ['Schemas', info.schema_config === null ? null : JSON.stringify(info.schema_config)],
    ['Storage', info.storage_profile],
    ['Sanitized by', info.sanitize_query ?? 'no query is configured'],
    ['Sanitized in', info.sanitize_destination],
    ['Sanitized to', info.sanitize_storage_profile],
    ['Subset of', info.subset_source],
    ['Subset in', info.subset_destination],
    ['Subset tables', listed(info.subset_tables)],
    ['Shared from', info.shared_storage_profile],
    ['SSO groups', listed(info.sso_groups)],
    ['Destination of', listed(info.allow_destination_of)],
    ['CPUs', String(info.cpus)],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
}

function withOrigin(fact: string | null, setting: string | null): string | null {
  return fact !== null && setting !== null ? `${fact} (${setting})` : fact;
}

function listed(names: string[]): string | null {
  return names.length === 0 ? null : names.join(', ');
}

/** A line for each base copy and spare of the targets, and for their branches; then what they take together. */
export function destinationCopyLines(rows: TargetRow[]): string[] {
  const lines = rows.flatMap(({ name, copies }) =>
    copies ? copiesLines(copies).map((line) => `${name}: ${line}`) : [],
  );
  const bytes = copiesBytes(rows.flatMap(({ copies }) => copies ?? []));
  return lines.length < 2 || bytes === null ? lines : [...lines, `All copies: ${formatBytes(bytes)} on their servers`];
}

export interface NoTargets {
  /** The configuration file, to say where targets belong. */
  file: string | null;
  mode: Mode;
  /** A hub is configured, but no token for it. */
  lacksSignIn: boolean;
}

export function noTargetsText({ file, mode, lacksSignIn }: NoTargets): string {
  if (lacksSignIn) return `No targets yet. ${SIGN_IN}`;
  return `${mode === 'cloud' ? NONE_ON_HUB : 'No targets yet.'} Add one under "targets" in ${file ?? 'tool.yml'}. tool.example.yml shows every key.`;
}
