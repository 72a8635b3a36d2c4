import { Box } from 'ink';
import { useMemo } from 'react';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import type { Fact } from '../../components/facts.tsx';
import type { Span } from '../../components/line.tsx';
import { TableList } from '../../components/table-list.tsx';
import { useTheme } from '../../components/theme.ts';
import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../src/text/format.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { BACK, HELP, MOVES, PALETTE, TASKS } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import { changeShare, confirmSubset, copyTable, excludeTable, saveSubset } from './actions.ts';
import { subsetTarget } from './choices.ts';
import { type PlanRow, planColumns, planRows } from './rows.ts';
import { type SubsetRoute, selectedTable, subsetRows } from './subset-route.ts';

export const subsetScreen: ScreenModule<SubsetRoute> = {
  id: 'subset',
  title: 'Plan of a subset',
  picture: 'subset',
  view: SubsetView,
  keys: [
    {
      keys: ['enter'],
      label: 'make it',
      help: 'make the subset as it is planned here; shows the plan and asks first',
      whyNot: (context) =>
        notWritable(context) ?? (isPlanned(context.route) ? null : 'What it would do is not known yet'),
      run: confirmSubset,
    },
    { keys: ['e'], label: 'exclude', help: 'leave the table empty, or take it in again', run: excludeTable },
    {
      keys: ['c'],
      label: 'copy whole',
      help: 'take all rows of the table, or only those that are needed again',
      run: copyTable,
    },
    {
      keys: ['+', '='],
      label: 'more',
      help: 'a larger share of the rows',
      run: (model, route) => changeShare(model, route, 1),
    },
    {
      keys: ['-'],
      label: 'less',
      help: 'a smaller share of the rows',
      run: (model, route) => changeShare(model, route, -1),
    },
    {
      keys: ['w'],
      label: 'save',
      help: 'write what was chosen here into the configuration, with comments kept',
      whyNot: notWritable,
      run: saveSubset,
      stays: true,
    },
    BACK,
    TASKS,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, route) => ({ ids: subsetRows(route).map(({ table }) => table) }),
};

function isPlanned({ found, error, counting }: SubsetRoute): boolean {
  return found !== null && error === null && !counting;
}

function SubsetView({ route }: { route: SubsetRoute }) {
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
  const target = choices && subsetTarget(choices, table);
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
