import { Box } from 'ink';
import { Empty } from '../../components/empty.tsx';
import { Line, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTheme } from '../../components/theme.ts';
import { fitCells } from '../../src/cells.ts';
import { selectedIndex } from '../../src/state/list.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import type { PaletteRoute } from '../app/route.ts';
import { entriesInView, type PaletteEntry } from './entries.ts';

const KEYS_WIDTH = 8;

/** Every action by some letters of its name. */
export function PaletteView({ route }: { route: PaletteRoute }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const entries = entriesInView(model, route);
  const selected = selectedIndex(
    entries.map(({ text }) => text),
    route.list.selected,
  );
  const row = ({ text, keys, reason }: PaletteEntry): Span[] => [
    { text: fitCells(keys, KEYS_WIDTH, { ellipsis: glyphs.ellipsis }), tone: reason === null ? 'accent' : 'dim' },
    { text, tone: reason === null ? 'plain' : 'dim' },
    { text: reason === null ? '' : `  ${reason}`, tone: 'caution' },
  ];
  return (
    <Frame screen="palette" path={['commands']} aside={[{ text: `${entries.length}`, tone: 'dim' }]}>
      <TextField label=" :" edit={route.typing} width={columns - 2} placeholder="some letters of what is to be done" />
      <Line spans={[]} width={columns} />
      {entries.length === 0 ? (
        <Empty lines={['Nothing is called like that.', 'Esc goes back.']} />
      ) : (
        <Box flexDirection="column">
          <List
            items={entries}
            keyOf={({ text }) => text}
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
