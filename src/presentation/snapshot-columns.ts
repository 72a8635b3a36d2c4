import type { Contents, SnapshotRow } from '../results/results.ts';
import { formatAge, formatBytes, formatCount, formatTime } from '../text/format.ts';
import { printable } from '../text/printable.ts';
import type { Cell, Column } from './shapes/column.ts';
import type { Glyphs } from './shapes/glyphs.ts';
import { coverageText, kindBadge, locationText, selectedByIndex, signatureWord, tagsText } from './snapshot.ts';

/** All columns of snapshots by name: each list takes those for which it has room. */
function snapshotColumnsOf(rows: SnapshotRow[], now: number) {
  const byIndex = selectedByIndex(rows);
  const originals = new Set(rows.filter(({ sanitized }) => !sanitized).map(({ id }) => id));
  const isOfOriginal = ({ sanitized_of: of }: SnapshotRow) => of !== undefined && originals.has(of);
  return {
    index: {
      title: 'INDEX',
      align: 'right',
      whole: true,
      cell: ({ index, id }) => ({ text: byIndex.has(id) ? String(index) : '' }),
    },
    // Below its original a sanitized snapshot is indented.
    id: { title: 'ID', whole: true, cell: (row) => ({ text: isOfOriginal(row) ? `  ${row.id}` : row.id }) },
    origin: { title: 'OF', cell: ({ origin }) => ({ text: origin ?? '' }) },
    created: {
      title: 'CREATED',
      whole: true,
      cell: ({ created_at }) => ({ text: formatTime(created_at) }),
    },
    age: { title: 'AGE', whole: true, cell: ({ created_at }) => ({ text: formatAge(now - Date.parse(created_at)) }) },
    kind: {
      title: 'KIND',
      whole: true,
      cell: ({ sanitized }) => kindBadge(sanitized),
    },
    coverage: {
      title: 'COVERAGE',
      dropRank: 1,
      cell: (row) => ({ text: coverageText(row), tone: row.coverage?.unchanged.length ? 'caution' : 'good' }),
    },
    server: { title: 'SERVER', cell: ({ engine, server_version }) => ({ text: `${engine} ${server_version}` }) },
    program: { title: 'PROGRAM', cell: ({ program }) => ({ text: program ?? '' }) },
    tables: { title: 'TABLES', align: 'right', dropRank: 5, cell: ({ tables }) => ({ text: formatCount(tables) }) },
    rows: { title: 'ROWS', align: 'right', dropRank: 4, cell: ({ rows }) => ({ text: formatCount(rows) }) },
    size: {
      title: 'SIZE',
      align: 'right',
      whole: true,
      dropRank: 1,
      cell: ({ size_bytes }) => ({ text: formatBytes(size_bytes) }),
    },
    added: {
      title: 'ADDED',
      align: 'right',
      dropRank: 6,
      cell: ({ stored_bytes }) => ({ text: formatBytes(stored_bytes), tone: 'dim' }),
    },
    signature: { title: 'SIGNATURE', cell: ({ signature }) => ({ text: signatureWord(signature) }) },
    where: { title: 'WHERE', dropRank: 3, cell: ({ where }) => ({ text: locationText(where), tone: 'dim' }) },
    branch: { title: 'GIT BRANCH', cell: ({ git }) => ({ text: printable(git?.branch ?? '') }) },
    migration: { title: 'MIGRATION', cell: (row) => ({ text: printable(newestMigration(row)) }) },
    pin: { title: 'PIN', dropRank: 2, cell: ({ pinned }) => ({ text: pinned ? 'pinned' : '', tone: 'accent' }) },
    tags: { title: 'TAGS', dropRank: 2, cell: ({ tags }) => ({ text: tagsText(tags), tone: 'accent' }) },
    image: { title: 'IMAGE', dropRank: 2, cell: ({ image }) => ({ text: image ? 'stored' : '', tone: 'good' }) },
    restored: {
      title: 'RESTORED',
      dropRank: 2,
      cell: ({ restored_at }) => ({ text: restored_at ? formatAge(now - Date.parse(restored_at)) : '', tone: 'good' }),
    },
    note: {
      title: 'NOTE',
      grows: true,
      // As wide without a note as the first one needs: writing it drops no column.
      min: 12,
      dropRank: 2,
      essential: true,
      cell: ({ note }) => ({ text: note ?? '' }),
    },
  } satisfies Record<string, Column<SnapshotRow>>;
}

/** Pin, tags, images and proofs by restore, where there are any. */
function annotationColumns(rows: SnapshotRow[], now: number): Column<SnapshotRow>[] {
  const { pin, tags, image, restored } = snapshotColumnsOf(rows, now);
  return [
    ...(rows.some((row) => row.pinned) ? [pin] : []),
    ...(rows.some((row) => row.tags) ? [tags] : []),
    ...(rows.some((row) => row.image) ? [image] : []),
    ...(rows.some((row) => row.restored_at) ? [restored] : []),
  ];
}

/** Returns the newest migration of the first migrations table. */
function newestMigration({ migrations = [] }: SnapshotRow): string {
  return migrations[0]?.newest ?? '';
}

interface BriefColumnsOptions {
  rows: SnapshotRow[];
  now: number;
  glyphs: Glyphs;
  marked: string[];
  /** The destination holds its content. */
  held?: Contents | null | undefined;
}

/** For the width of a screen. */
export function briefSnapshotColumns({ rows, now, glyphs, marked, held }: BriefColumnsOptions): Column<SnapshotRow>[] {
  const { index, id, age, kind, coverage, size, note, where, ...counts } = snapshotColumnsOf(rows, now);
  const shorthand: Column<SnapshotRow> = {
    ...index,
    title: '#',
    cell: (row) => {
      const { text } = index.cell(row);
      return marked.includes(row.id) ? { text: `${glyphs.marked} ${text}`.trim(), tone: 'accent' } : { text };
    },
  };
  const loaded: Column<SnapshotRow> = {
    title: 'LOADED',
    dropRank: 1,
    cell: (row) => (held && isHeld(row, held) ? heldCell(held) : { text: '' }),
  };
  return [
    id,
    shorthand,
    age,
    kind,
    ...(held && rows.some((row) => isHeld(row, held)) ? [loaded] : []),
    ...(rows.some((row) => row.coverage) ? [coverage] : []),
    size,
    counts.added,
    counts.tables,
    counts.rows,
    where,
    ...annotationColumns(rows, now),
    note,
  ];
}

function isHeld({ id }: SnapshotRow, { snapshot, save }: Contents): boolean {
  return id === snapshot && save === undefined;
}

function heldCell({ unchanged }: Contents): Cell {
  return unchanged ? { text: 'unchanged', tone: 'good' } : { text: 'changed?', tone: 'dim' };
}

/** For a terminal and for files. Index, id, time of creation, kind and size are in every width. */
export function snapshotColumns(snapshots: SnapshotRow[], now: number): Column<SnapshotRow>[] {
  const { index, id, origin, created, age, kind, server, program, ...others } = snapshotColumnsOf(snapshots, now);
  const { tables, rows, size, added, signature, where, branch, migration, note } = others;
  const ranked = (column: Column<SnapshotRow>, dropRank: number): Column<SnapshotRow> => ({ ...column, dropRank });
  return [
    ...[index, id],
    ...(snapshots.some((row) => row.origin !== undefined) ? [ranked(origin, 2)] : []),
    ...[created, ranked(age, 5), ranked(kind, 0), ranked(server, 8)],
    ...(snapshots.some((row) => row.program !== undefined) ? [ranked(program, 4)] : []),
    ...[ranked(tables, 7), ranked(rows, 6), ranked(size, 0), ranked(added, 9), ranked(signature, 10), ranked(where, 1)],
    ...(snapshots.some((row) => row.git?.branch) ? [ranked(branch, 11)] : []),
    ...(snapshots.some((row) => newestMigration(row) !== '') ? [ranked(migration, 12)] : []),
    ...annotationColumns(snapshots, now).map((column) => ranked(column, 3)),
    ranked(note, 3),
  ];
}
