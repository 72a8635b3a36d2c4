import { Box } from 'ink';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import type { Fact } from '../../components/facts.tsx';
import type { Span } from '../../components/line.tsx';
import type { Column } from '../../components/table.ts';
import { TableList } from '../../components/table-list.tsx';
import { type Glyphs, useTheme } from '../../components/theme.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { BACK, HELP, MOVES, PALETTE, REFRESH } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { notEditable, notWritable } from '../app/why-not.ts';
import { doctor, editFinding, showFix } from './actions.ts';
import type { DoctorRow } from './rows.ts';
import { type DoctorRoute, rowsOf, selectedFinding, shownDiagnosis } from './selection.ts';

export const doctorScreen: ScreenModule<DoctorRoute> = {
  id: 'doctor',
  title: 'Check of the configuration',
  picture: 'check',
  view: DoctorView,
  keys: [
    {
      keys: ['f', 'enter'],
      label: 'mend it',
      help: 'show what would mend the finding, and do it',
      whyNot: (context) => notWritable(context) ?? whyNotFixed(selectedFinding(context.route)),
      run: showFix,
    },
    {
      keys: ['E'],
      label: 'edit',
      help: 'edit the configuration where the finding is; in your editor when it is not valid YAML',
      whyNot: notEditable,
      run: (model, route) => void editFinding(model, route),
    },
    { ...REFRESH, run: doctor },
    BACK,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, route) => ({ ids: rowsOf(route).map(({ id }) => id) }),
};

function whyNotFixed(finding: DoctorRow | null): string | null {
  if (finding?.fix) return null;
  if (!finding || finding.state === 'good') return 'There is nothing to mend';
  return finding.at ? 'Only you can know what is meant: E edits it' : 'No key can mend this';
}

const DETAIL_FROM = 14;

export function DoctorView({ route }: { route: DoctorRoute }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { error } = route;
  const rows = rowsOf(route);
  const row = selectedFinding(route);
  const detailed = height >= DETAIL_FROM;
  return (
    <Frame screen="doctor" path={['check']} aside={summary(route)}>
      {error && <Failure error={error} width={columns} />}
      {rows.length === 0 && !error && <Empty lines={['Looking at the configuration and all that it needs…']} />}
      {row && !error && (
        <Box flexDirection="column">
          <TableList
            columns={doctorColumns(glyphs)}
            rows={rows}
            keyOf={({ id }) => id}
            selected={rows.findIndex(({ id }) => id === row.id)}
            width={columns}
            height={height - (detailed ? DETAIL_ROWS : 0)}
          />
          {detailed && (
            <DetailPane
              title={[{ text: row.subject, tone: 'strong' }]}
              facts={factsOf(row)}
              width={columns}
              place="below"
            />
          )}
        </Box>
      )}
    </Frame>
  );
}

function summary(route: DoctorRoute): Span[] {
  const report = shownDiagnosis(route)?.report;
  if (!report) return [];
  const errors = report.problems.filter(({ severity }) => severity === 'error').length;
  return [
    ...(route.found ? [] : [{ text: 'looking again  ', tone: 'dim' as const }]),
    report.ok ? { text: 'ready', tone: 'good' } : { text: formatNumberOf(errors, 'error'), tone: 'bad' },
  ];
}

function factsOf({ finding, fix, more }: DoctorRow): Fact[] {
  return [
    { name: 'Found', value: finding },
    ...(fix ? [{ name: 'f', value: fix.does, tone: 'accent' as const }] : []),
    ...more.map((value) => ({ name: '', value })),
  ];
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
