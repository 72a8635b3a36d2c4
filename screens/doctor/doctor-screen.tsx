import { Box } from 'ink';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import type { Column } from '../../components/table.ts';
import { TableList } from '../../components/table-list.tsx';
import { type Glyphs, useTheme } from '../../components/theme.ts';
import { formatNumberOf } from '../../src/amounts.ts';
import { selectedIndex } from '../../src/state/list.ts';
import { Empty, Failure } from '../empty.tsx';
import { Frame, useRoom } from '../frame.tsx';
import type { DoctorPlace } from '../place.ts';
import { type DoctorRow, doctorRows } from './rows.ts';

/** The check of the configuration and of all that it needs. */
export function DoctorScreen({ place: { found, error, list } }: { place: DoctorPlace }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const rows = found ? doctorRows(found) : [];
  const selected = selectedIndex(
    rows.map(({ id }) => id),
    list.selected,
  );
  const row = rows[selected];
  const errors = found?.problems.filter(({ severity }) => severity === 'error').length ?? 0;
  const aside = found
    ? [
        {
          text: found.ok ? 'ready' : formatNumberOf(errors, 'error'),
          tone: found.ok ? ('good' as const) : ('bad' as const),
        },
      ]
    : [];
  return (
    <Frame screen="doctor" path={['check']} aside={aside}>
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={['Looking at the configuration and all that it needs…']} />}
      {row && (
        <Box flexDirection="column">
          <TableList
            columns={doctorColumns(glyphs)}
            rows={rows}
            keyOf={({ id }) => id}
            selected={selected}
            width={columns}
            height={height - DETAIL_ROWS}
          />
          <DetailPane
            title={[{ text: row.subject, tone: 'strong' }]}
            facts={[{ name: 'Found', value: row.finding }, ...row.more.map((value) => ({ name: '', value }))]}
            width={columns}
            place="below"
          />
        </Box>
      )}
    </Frame>
  );
}

function doctorColumns(glyphs: Glyphs): Column<DoctorRow>[] {
  return [
    {
      title: ' ',
      cell: ({ state }) => (state ? { text: glyphs[state], tone: state } : { text: glyphs.none, tone: 'dim' }),
    },
    { title: 'WHAT', max: 40, cell: ({ subject }) => ({ text: subject }) },
    { title: 'FOUND', grows: true, cell: ({ finding }) => ({ text: finding, tone: 'dim' }) },
  ];
}
