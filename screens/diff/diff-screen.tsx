import { Box } from 'ink';
import { Empty, Failure } from '../../components/empty.tsx';
import type { Span } from '../../components/line.tsx';
import type { Column } from '../../components/table.ts';
import { TableList } from '../../components/table-list.tsx';
import type { Tone } from '../../components/theme.ts';
import type { DiffResult, TableChange } from '../../src/results/results.ts';
import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { formatBytes, formatCount, formatNumberOf } from '../../src/text/format.ts';
import type { Fetched } from '../app/fetched.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';

declare module '../app/route.ts' {
  interface Routes {
    diff: DiffRoute;
  }
}

interface DiffRoute extends Fetched<DiffResult> {
  screen: 'diff';
  target: string;
  title: string;
  list: ListState;
}

export const diffScreen: ScreenModule<DiffRoute> = {
  id: 'diff',
  title: 'What changed between snapshots',
  view: DiffView,
  keys: [BACK, PALETTE, HELP, ...MOVES],
  rows: (_, { found }) => ({ ids: (found?.changes ?? []).map(({ table }) => table) }),
};

function DiffView({ route }: { route: DiffRoute }) {
  const { columns, height } = useRoom();
  const { target, title, found, error, list } = route;
  const changes = found?.changes ?? [];
  return (
    <Frame screen="diff" path={[target, title]} aside={found ? summary(found) : []}>
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={['Comparing…']} />}
      {found && changes.length === 0 && (
        <Empty lines={['No table differs.', `${formatNumberOf(found.unchanged, 'table')} compared. Esc goes back.`]} />
      )}
      {changes.length > 0 && (
        <Box>
          <TableList
            columns={COLUMNS}
            rows={changes}
            keyOf={({ table }) => table}
            selected={selectedIndex(
              changes.map(({ table }) => table),
              list.selected,
            )}
            width={columns}
            height={height}
          />
        </Box>
      )}
    </Frame>
  );
}

function summary({ changes, unchanged }: DiffResult): Span[] {
  return [{ text: `${formatNumberOf(changes.length, 'change')}, ${unchanged} unchanged`, tone: 'dim' }];
}

const TONES: Record<TableChange['change'], Tone> = { added: 'good', gone: 'bad', changed: 'caution' };

const COLUMNS: Column<TableChange>[] = [
  { title: 'TABLE', grows: true, cell: ({ table }) => ({ text: table }) },
  { title: 'CHANGE', cell: ({ change }) => ({ text: change, tone: TONES[change] }) },
  { title: 'ROWS', align: 'right', cell: ({ to }) => ({ text: to ? formatCount(to.rows) : '' }) },
  { title: 'DIFFERENCE', align: 'right', cell: ({ from, to }) => difference(from?.rows, to?.rows, formatCount) },
  {
    title: 'SIZE',
    align: 'right',
    dropRank: 1,
    cell: ({ to }) => ({ text: to && to.bytes !== null ? formatBytes(to.bytes) : '' }),
  },
  {
    title: 'DIFFERENCE',
    align: 'right',
    dropRank: 2,
    cell: ({ from, to }) =>
      from?.bytes === null || to?.bytes === null ? { text: '' } : difference(from?.bytes, to?.bytes, formatBytes),
  },
];

function difference(before = 0, after = 0, format: (amount: number) => string): { text: string; tone: Tone } {
  const change = after - before;
  if (change === 0) return { text: 'none', tone: 'dim' };
  return { text: `${change > 0 ? '+' : '-'}${format(Math.abs(change))}`, tone: 'plain' };
}
