import { Box } from 'ink';
import { Empty } from '../../components/empty.tsx';
import { Line, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import { emptyList, selectedIndex } from '../../src/state/list.ts';
import { cellWidth, fitCells } from '../../src/text/text-width.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { BACK, moving } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { COMMAND_HINT, EMPTY } from '../app/text.ts';
import { entriesInView, type PaletteEntry, type PaletteRoute } from './entries.ts';

export const paletteScreen: ScreenModule<PaletteRoute> = {
  title: 'Commands',
  view: PaletteView,
  keys: [
    { keys: ['enter'], label: 'run', help: 'run the selected command', run: choose, stays: true },
    { ...BACK, keys: ['esc'] },
    moving('up', { keys: ['up'], help: 'up' }),
    moving('down', { keys: ['down'], help: 'down' }),
  ],
  rows: (model, route) => ({ ids: entriesInView(model, route).map(idOf) }),
  linesAboveRows: () => 2,
  // Selects the best match of the new text.
  onText: ({ navigation }, route, typing) => navigation.replace({ ...route, typing, list: emptyList }),
  onAccept: choose,
};

/** Runs the chosen command where the palette was opened. */
function choose(model: Model, route: PaletteRoute): void {
  const entries = entriesInView(model, route);
  const entry = entries.find((other) => idOf(other) === route.list.selected) ?? entries[0];
  if (!entry) return;
  model.navigation.pop();
  if (entry.reason === null) entry.run();
  else model.navigation.notify({ tone: 'caution', text: entry.reason });
}

/** Two commands may have one name. */
function idOf({ name, help }: PaletteEntry): string {
  return `${name}: ${help}`;
}

const KEYS_WIDTH = 8;
/** Cells of a name beside its help; names of targets may be longer. */
const LEAST_NAMES = 30;
const NAMES_SHARE = 0.6;

function PaletteView({ route }: { route: PaletteRoute }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const entries = entriesInView(model, route);
  const selected = selectedIndex(entries.map(idOf), route.list.selected);
  const widest = Math.max(0, ...entries.map(({ name }) => cellWidth(name)));
  const nameWidth = Math.min(
    widest,
    Math.max(LEAST_NAMES, Math.floor(columns * NAMES_SHARE)),
    columns - KEYS_WIDTH - 3,
  );
  const row = ({ name, help, keys, reason }: PaletteEntry): Span[] => [
    { text: fitCells(keys, KEYS_WIDTH, { ellipsis: glyphs.ellipsis }), tone: reason === null ? 'accent' : 'dim' },
    { text: fitCells(name, nameWidth, { ellipsis: glyphs.ellipsis }), tone: reason === null ? 'plain' : 'dim' },
    { text: `  ${reason ?? help}`, tone: reason === null ? 'dim' : 'caution' },
  ];
  return (
    <Frame path={['commands']} aside={[{ text: `${entries.length}`, tone: 'dim' }]}>
      <TextField label=" :" edit={route.typing} width={columns - 2} placeholder={COMMAND_HINT} />
      <Line spans={[]} width={columns} />
      {entries.length === 0 ? (
        <Empty lines={EMPTY.commands} />
      ) : (
        <Box flexDirection="column">
          <List
            items={entries}
            keyOf={idOf}
            row={row}
            selected={selected}
            width={columns}
            height={Math.max(1, height - 2)}
          />
        </Box>
      )}
    </Frame>
  );
}
