import { Box } from 'ink';
import { useMemo } from 'react';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import type { Fact } from '../../components/facts.tsx';
import type { Span } from '../../components/line.tsx';
import { TableList } from '../../components/table-list.tsx';
import { useTheme } from '../../components/theme.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../src/amounts.ts';
import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import type { SubsetRoute } from '../app/route.ts';
import { selectedTable } from './actions.ts';
import { type PlanRow, planColumns, planRows } from './rows.ts';

/** What a subset would hold, as a tree of the ways by which its rows come. */
export function SubsetView({ route }: { route: SubsetRoute }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { target, found, error, choices } = route;
  const rows = useMemo(() => planRows(found?.plan.tables ?? []), [found]);
  const tableColumns = useMemo(() => planColumns({ glyphs }), [glyphs]);
  const row = selectedTable(route);
  const detailed = row !== null && height >= 16 && !error;
  return (
    <Frame screen="subset" path={[target, 'subset']} aside={summary(route)}>
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={['Looking for the rows…']} />}
      {rows.length > 0 && !error && (
        <Box>
          <TableList
            columns={tableColumns}
            rows={rows}
            keyOf={({ table }) => table}
            selected={row ? rows.findIndex(({ table }) => table === row.table) : -1}
            width={columns}
            height={height - (detailed ? DETAIL_ROWS : 0)}
          />
        </Box>
      )}
      {detailed && (
        <DetailPane
          title={[{ text: row.table, tone: 'strong' }]}
          facts={rowFacts(row, choices)}
          width={columns}
          place="below"
        />
      )}
    </Frame>
  );
}

const RULES: Record<PlanRow['rule'], string> = {
  target: 'asked for',
  child: 'its rows refer to chosen ones',
  parent: 'chosen rows refer to its rows',
  copy: 'comes whole',
  excluded: 'left empty: it is excluded',
  empty: 'created empty: nothing leads to it',
};

function rowFacts({ table, rule, path, nulled }: PlanRow, choices: SubsetChoices | null): Fact[] {
  const target = choices?.subset_tables.find((one) => one.table === table);
  const chosen = target?.percent === undefined ? target?.where : `${target.percent} %`;
  return [
    { name: 'Rule', value: chosen === undefined ? RULES[rule] : `${RULES[rule]}: ${chosen}` },
    ...(path.length > 1 ? [{ name: 'Comes by', value: path.join(' ') }] : []),
    ...(nulled.length > 0 ? [{ name: 'Become null', value: nulled.join(', ') }] : []),
  ];
}

function summary({ found, counting, changed }: SubsetRoute): Span[] {
  if (!found) return [];
  const { tables } = found.plan;
  const rows = tables.reduce((sum, { rows_expected }) => sum + (rows_expected ?? 0), 0);
  const bytes = tables.reduce((sum, { bytes_expected }) => sum + (bytes_expected ?? 0), 0);
  const filled = tables.filter(({ rows_expected }) => (rows_expected ?? 0) > 0).length;
  return [
    ...(changed ? [{ text: 'not saved  ', tone: 'caution' as const }] : []),
    counting
      ? { text: 'counting…', tone: 'dim' }
      : { text: `${formatCount(rows)} rows of ${formatNumberOf(filled, 'table')}, ${formatBytes(bytes)}`, tone: 'dim' },
  ];
}
