import type { ManifestFile } from '../../../../repository/manifest/manifest.ts';
import { nameOf } from '../../../../text/table-names.ts';
import type { PackedFile, ReadSummary, RowsOfLastBuild } from '../../../facets/dump.ts';
import type { CatalogTable } from '../../catalog/introspect.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { TERMINATOR_LINES } from '../archive.ts';
import { fileName, type Range, WHOLE } from '../ranges.ts';
import { type Evidence, isOfPast, parseEvidence, type RangeEvidence, type TableEvidence } from './evidence.ts';
import { isProvable, type SourceState } from './read-state.ts';
import { betweenSessions } from './readers.ts';
import { withinSavepoint } from './savepoint.ts';
import { findUnchangedRanges, isWhole, type ScanOptions } from './scan.ts';
import { type Blocks, changedBlocks, setMap, type VisibilityMap, type VisibilityMaps } from './visibility-maps.ts';

/** Files that need not be read, by the place of their range; `null` where a range is to be read. */
export type UnchangedFiles = Map<CatalogTable, (PackedFile | null)[]>;

export interface ProveOptions {
  last: RowsOfLastBuild | undefined;
  /** `null` where nothing can be proved. */
  state: SourceState | null;
  ranges: Map<CatalogTable, Range[]>;
  /** Reads the visibility maps of tables, behind the snapshot. */
  readMaps?: () => Promise<VisibilityMaps>;
  /** Opens a session that sees the same rows, if one is worth it for so many pages. */
  openSecond?: (pages: number) => Promise<PostgresSession | null>;
}

/** Finds the ranges whose rows are proved to be those of the last build, and whose objects the store has. */
export async function proveUnchanged(
  session: PostgresSession,
  { last, state, ranges, readMaps = async () => new Map(), openSecond = async () => null }: ProveOptions,
): Promise<{ files: UnchangedFiles; ranges: Map<CatalogTable, Range[]>; reading: ReadSummary }> {
  const evidence = last ? parseEvidence(last.evidence) : null;
  const isBelieved = evidence !== null && state !== null && isOfPast(evidence, state);
  const found: FoundTables =
    isBelieved && last
      ? await findUnchanged(session, { evidence, state, isStored: last.isStored, ranges, readMaps, openSecond })
      : new Map();
  const files: UnchangedFiles = new Map([...found].map(([table, one]) => [table, one.files]));
  const provable = [...ranges.keys()].some(isProvable);
  const isRefused = provable && last !== undefined && last.evidence !== null && !isBelieved;
  const refused = isRefused ? (state === null ? 'unprovable' : 'history') : null;
  return {
    files,
    ranges: new Map([...ranges].map(([table, parts]) => [table, found.get(table)?.ranges ?? parts])),
    reading: readingOf(
      [...ranges.keys()].filter((table) => !table.without_rows),
      { files, refused, provable },
    ),
  };
}

/** The ranges of each table, and the file of each that need not be read. */
type FoundTables = Map<CatalogTable, FoundTable>;

interface FoundTable {
  ranges: Range[];
  files: (PackedFile | null)[];
}

interface FindOptions extends Required<Pick<ProveOptions, 'ranges' | 'readMaps' | 'openSecond'>> {
  evidence: Evidence;
  state: SourceState;
  isStored: RowsOfLastBuild['isStored'];
}

async function findUnchanged(session: PostgresSession, options: FindOptions): Promise<FoundTables> {
  const found = await withinSavepoint(session, async () => {
    // For these scans only: one by an index would visit the blocks in the order of its keys.
    await session.execute(`SET LOCAL enable_seqscan = 'on'`);
    const tables = await scanTables(session, options);
    await session.execute(`SET LOCAL enable_seqscan = 'off'`);
    return tables;
  });
  return new Map(await Promise.all(found ?? []));
}

async function scanTables(
  session: PostgresSession,
  { evidence, state, isStored, ranges, readMaps, openSecond }: FindOptions,
): Promise<Promise<[CatalogTable, FoundTable]>[]> {
  const recorded = new Map(evidence.tables.map((table) => [table.oid, table]));
  const maps = evidence.tables.some(({ map }) => map) ? await readMaps() : new Map();
  const scans = [...ranges].flatMap(([table, parts]): ScanOptions[] => {
    const earlier = recorded.get(table.oid);
    const now = state.tables.get(table.oid);
    if (!earlier || !now || earlier.filenode !== now.filenode || earlier.shape !== now.shape) return [];
    return [
      {
        table,
        ranges: parts,
        earlier: earlier.ranges,
        xmin: evidence.xmin,
        blocks: blocksSince(earlier, maps.get(table.oid)),
      },
    ];
  });
  const pages = scans.reduce((sum, { table, blocks }) => sum + (blocks?.length === 0 ? 0 : table.blocks), 0);
  await using second = await openSecond(pages);
  const sessions = second ? [session, second] : [session];
  const found = await betweenSessions(sessions, scans, async (own, scan) => {
    const unchanged = await findUnchangedRanges(own, scan);
    const { table } = scan;
    // The store is examined while the server scans the next table.
    const files = Promise.all(unchanged.map((one, at) => one && takeOver(one, fileName(table, at), isStored)));
    files.catch(() => {});
    return [files.then((all): [CatalogTable, FoundTable] => [table, toFound(scan, all)])];
  });
  return found.flat();
}

/** Returns the blocks that may have changed since the map of the evidence; `null` for all. */
function blocksSince({ filenode, map: before }: TableEvidence, now: VisibilityMap | undefined): Blocks[] | null {
  if (!before || !now) return null;
  const [pages, positions] = before;
  return changedBlocks(setMap({ filenode, pages, positions }, now), now);
}

function toFound({ ranges, earlier }: ScanOptions, files: (PackedFile | null)[]): FoundTable {
  if (!isWhole(earlier)) return { ranges, files };
  // Files of the whole table are taken over together or not at all.
  return files.includes(null) ? { ranges, files: ranges.map(() => null) } : { ranges: files.map(() => WHOLE), files };
}

async function takeOver({ rows, file }: RangeEvidence, name: string, isStored: RowsOfLastBuild['isStored']) {
  const stored: ManifestFile = { name, ...file };
  return (await isStored(stored)) ? { file: stored, lines: rows + TERMINATOR_LINES, terminated: true } : null;
}

function readingOf(
  tables: CatalogTable[],
  { files, ...rest }: Pick<ReadSummary, 'refused' | 'provable'> & { files: UnchangedFiles },
): ReadSummary {
  const reading: ReadSummary = { read: [], partlyRead: [], unchanged: [], unchangedBytes: 0, ...rest };
  for (const table of tables) {
    const known = files.get(table) ?? [null];
    const taken = known.flatMap((one) => one ?? []);
    reading.unchangedBytes += taken.reduce((sum, { file }) => sum + file.bytes, 0);
    if (taken.length === known.length) reading.unchanged.push(nameOf(table));
    else (taken.length > 0 ? reading.partlyRead : reading.read).push(nameOf(table));
  }
  return reading;
}
