import { useMemo } from 'react';
import { useStore } from 'zustand';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty } from '../../components/empty.tsx';
import type { Fact } from '../../components/facts.tsx';
import type { Span } from '../../components/line.tsx';
import { TableList } from '../../components/table-list.tsx';
import { useTheme } from '../../components/theme.ts';
import type { Coverage, TableCoverage } from '../../src/results/sanitize-results.ts';
import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { formatCount, formatNumberOf } from '../../src/text/format.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { BACK, HELP, MOVES, TASKS } from '../app/keys.ts';
import { contextOf, runWithId, type ScreenModule } from '../app/model.ts';
import { EDIT_QUERY, SANITIZE } from './actions.ts';
import { type CoverageRow, coverageColumns, coverageRows } from './rows.ts';

declare module '../app/route.ts' {
  interface Routes {
    coverage: CoverageRoute;
  }
}

/** The coverage of a sanitization of this session. */
interface CoverageRoute {
  screen: 'coverage';
  run: string;
  list: ListState;
}

export const coverageScreen: ScreenModule<CoverageRoute> = {
  id: 'coverage',
  title: 'Coverage of a sanitization',
  picture: 'coverage',
  view: CoverageView,
  keys: [
    EDIT_QUERY,
    {
      ...SANITIZE,
      label: 'sanitize again',
      help: 'sanitize the same snapshot again, with the query as it is now',
    },
    BACK,
    TASKS,
    HELP,
    ...MOVES,
  ],
  rows(model, route) {
    const { run } = contextOf(model, route);
    return { ids: coverageRows(run?.receipt?.sanitized?.coverage).map(({ column }) => column) };
  },
};

function CoverageView({ route }: { route: CoverageRoute }) {
  const model = useModel();
  const run = useStore(model.runs.store, ({ runs }) => runWithId(runs, route.run));
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const sanitized = run?.receipt?.sanitized;
  const rows = useMemo(() => coverageRows(sanitized?.coverage), [sanitized]);
  const tableColumns = useMemo(() => coverageColumns({ glyphs }), [glyphs]);
  if (!run || !sanitized) return null;
  const { coverage } = sanitized;
  const selected = selectedIndex(
    rows.map(({ column }) => column),
    route.list.selected,
  );
  const row = rows[selected];
  const detailed = row !== undefined && height >= 16;
  return (
    <Frame screen="coverage" path={[run.target, 'coverage']} aside={findingsCount(coverage)}>
      {rows.length === 0 && (
        <Empty lines={['No column of this snapshot looks personal.', tablesLine(coverage.tables)]} />
      )}
      {rows.length > 0 && (
        <TableList
          columns={tableColumns}
          rows={rows}
          keyOf={({ column }) => column}
          selected={selected}
          width={columns}
          height={height - (detailed ? DETAIL_ROWS : 0)}
        />
      )}
      {detailed && (
        <DetailPane
          title={[{ text: row.column, tone: 'strong' }]}
          facts={rowFacts(row, coverage.tables)}
          width={columns}
          place="below"
        />
      )}
    </Frame>
  );
}

const STATES: Record<CoverageRow['state'], string> = {
  unchanged: 'still holds what was there',
  partly: 'some values are those of before',
  kept: 'kept by a comment of the query',
  changed: 'changed by the query',
};

function rowFacts({ column, meaning, state, before, after, remark }: CoverageRow, tables: TableCoverage[]): Fact[] {
  const table = tables.find(({ name }) => column.startsWith(`${name}.`));
  return [
    { name: 'Looks like', value: meaning },
    { name: 'State', value: [STATES[state], ...(remark === null ? [] : [remark])].join(': ') },
    { name: 'Before', value: before.join('  ') || 'no samples' },
    { name: 'After', value: after.join('  ') || 'no values' },
    ...(table
      ? [
          {
            name: 'Table',
            value: `${table.state}, ${rowCount(table.rows_before)} → ${rowCount(table.rows_after)} rows`,
          },
        ]
      : []),
  ];
}

function findingsCount({ findings, tables }: Coverage): Span[] {
  const count = findings.length;
  return [
    count === 0
      ? { text: 'nothing personal is as it was', tone: 'good' }
      : { text: formatNumberOf(count, 'finding'), tone: 'bad' },
    { text: `  ${tablesLine(tables)}`, tone: 'dim' },
  ];
}

function tablesLine(tables: TableCoverage[]): string {
  const counts = Map.groupBy(tables, ({ state }) => state);
  return `tables: ${[...counts].map(([state, of]) => `${of.length} ${state}`).join(', ')}`;
}

function rowCount(rows: number | null): string {
  return rows === null ? 'no' : formatCount(rows);
}
