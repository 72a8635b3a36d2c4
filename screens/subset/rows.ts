import type { Column } from '../../components/table.ts';
import type { Glyphs, Tone } from '../../components/theme.ts';
import type { SubsetTableRow } from '../../src/results/subset-results.ts';
import { formatBytes, formatCount } from '../../src/text/format.ts';

/** A table of the plan in the tree of references. */
export interface PlanRow extends SubsetTableRow {
  depth: number;
}

/** Each table below the one that it is reached from: subset tables first, unreachable ones last. */
export function planRows(tables: SubsetTableRow[]): PlanRow[] {
  const below = Map.groupBy(
    tables.filter(({ path }) => path.length > 1),
    ({ path }) => path[2] ?? '',
  );
  const rows: PlanRow[] = [];
  const visit = (row: SubsetTableRow, depth: number): void => {
    rows.push({ ...row, depth });
    for (const next of below.get(row.table) ?? []) visit(next, depth + 1);
  };
  const rank = ({ rule, path }: SubsetTableRow): number => (path.length === 0 ? 2 : rule === 'target' ? 0 : 1);
  const roots = tables.filter(({ path }) => path.length <= 1);
  for (const root of roots.toSorted((a, b) => rank(a) - rank(b))) visit(root, 0);
  return rows;
}

const TONES: Record<SubsetTableRow['rule'], Tone> = {
  target: 'strong',
  child: 'plain',
  parent: 'plain',
  copy: 'good',
  excluded: 'caution',
  empty: 'dim',
};

export function planColumns({ glyphs }: { glyphs: Glyphs }): Column<PlanRow>[] {
  return [
    {
      title: 'TABLE',
      grows: true,
      cell: ({ table, depth, rule }) => ({ text: `${'  '.repeat(depth)}${table}`, tone: TONES[rule] }),
    },
    { title: 'RULE', cell: ({ rule }) => ({ text: rule, tone: TONES[rule] }) },
    { title: 'ROWS NOW', align: 'right', dropRank: 2, cell: ({ rows_now }) => ({ text: formatCount(rows_now) }) },
    { title: 'SIZE NOW', align: 'right', dropRank: 3, cell: ({ bytes_now }) => ({ text: formatBytes(bytes_now) }) },
    {
      title: 'IN THE SUBSET',
      align: 'right',
      cell: ({ rows_expected }) => ({ text: rows_expected === null ? glyphs.none : formatCount(rows_expected) }),
    },
    {
      title: 'SIZE',
      align: 'right',
      dropRank: 1,
      cell: ({ bytes_expected }) => ({ text: bytes_expected === null ? glyphs.none : formatBytes(bytes_expected) }),
    },
  ];
}
