import { Line } from '../../components/line.tsx';
import { ListView } from '../../components/list-view.tsx';
import { TextField } from '../../components/text-field.tsx';
import type { Column } from '../../src/presentation/shapes/column.ts';
import { emptyList, selectedIndex } from '../../src/state/list.ts';
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
  linesAboveRows: () => 3,
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

const COLUMNS: Column<PaletteEntry>[] = [
  { title: 'KEY', whole: true, cell: ({ keys, reason }) => ({ text: keys, tone: reason === null ? 'accent' : 'dim' }) },
  { title: 'COMMAND', cell: ({ name, reason }) => ({ text: name, tone: reason === null ? 'plain' : 'dim' }) },
  {
    title: 'DESCRIPTION',
    ...{ grows: true, least: 30, dropRank: 1, essential: true },
    cell: ({ help, reason }) => ({ text: reason ?? help, tone: reason === null ? 'dim' : 'caution' }),
  },
];

function PaletteView({ route }: { route: PaletteRoute }) {
  const { columns, height } = useRoom();
  const entries = entriesInView(useModel(), route);
  return (
    <Frame path={['commands']} aside={[{ text: `${entries.length}`, tone: 'dim' }]}>
      <TextField label=" :" edit={route.typing} width={columns - 2} placeholder={COMMAND_HINT} />
      <Line spans={[]} width={columns} />
      <ListView
        columns={COLUMNS}
        rows={entries}
        keyOf={idOf}
        selected={selectedIndex(entries.map(idOf), route.list.selected)}
        width={columns}
        height={Math.max(1, height - 2)}
        empty={EMPTY.commands}
      />
    </Frame>
  );
}
