import { Box } from 'ink';
import { FilterLine } from '../../components/filter-line.tsx';
import { Line, Lines, type Span } from '../../components/line.tsx';
import { matchesFilter } from '../../src/state/list.ts';
import { wrap } from '../../src/text/text-width.ts';
import { Frame, placeOfText, useModel, useRoom } from '../app/frame/frame.tsx';
import {
  BACK,
  type BoundKey,
  bindingsWithKeys,
  EVERYWHERE,
  HELP,
  keyName,
  MOVES_WITHOUT_TAB,
  moving,
} from '../app/keys.ts';
import { FILTER, FILTERED, type FilterState, filterOf, isFiltering } from '../app/lists/filter.ts';
import { contextOf, type KeyBinding, type Model, type ScreenModule, screenOf } from '../app/model.ts';
import { scrolledDown } from '../app/navigate.ts';
import type { Route } from '../app/route.ts';
import { HELP_GROUPS, SCRIPTS_HINT } from '../app/text.ts';

interface HelpRoute extends FilterState {
  screen: 'help';
  of: Route;
  /** Lines. */
  scrolled: number;
}

export const helpScreen: ScreenModule<HelpRoute> = {
  title: 'Help',
  view: HelpView,
  keys: [
    ...FILTER,
    BACK,
    { ...HELP, help: 'back', run: BACK.run },
    moving('page-down', {
      keys: ['pagedown', 'space', 'ctrl+f'],
      label: 'scroll',
      help: 'a page down',
      when: ({ model }) => model.viewport.furthest > 0,
    }),
    ...MOVES_WITHOUT_TAB,
  ],
  ...FILTERED,
  onText: ({ navigation }, route, typing) => navigation.replace({ ...route, typing, scrolled: 0 }),
  onMove: (model, route, move) =>
    model.navigation.replace({ ...route, scrolled: scrolledDown(model, route.scrolled, move) }),
};

const KEYS_WIDTH = 18;
const MARGIN = 3;
/** Columns of a window in which keys that fill more than a page stand in two columns, and the cells between these. */
const TWO_FROM = 110;
const GAP = 2;

/** The keys of the screen below in groups, with the reasons of disabled commands. */
function HelpView({ route }: { route: HelpRoute }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const { typing, list, scrolled } = route;
  const rows = height - 1;
  const linesAt = (width: number) => helpLines(model, { of: route.of, filter: filterOf(route), width });
  const whole = linesAt(columns - MARGIN);
  const isSplit = whole.length > rows && columns >= TWO_FROM;
  const width = isSplit ? Math.floor((columns - MARGIN - GAP) / 2) : columns - MARGIN;
  const lines = isSplit ? linesAt(width) : whole;
  const page = isSplit ? rows * 2 : rows;
  const { from, aside } = placeOfText(model.viewport, { scrolled, rows: page, count: lines.length });
  return (
    <Frame path={[route.of.screen, 'help']} aside={aside}>
      {isFiltering(route) ? (
        <FilterLine typing={typing} filter={list.filter} width={columns} />
      ) : (
        <Line spans={[]} width={columns} />
      )}
      <Box paddingLeft={2} columnGap={GAP}>
        <Box flexDirection="column" width={width}>
          <Lines lines={lines.slice(from, from + rows)} width={width} />
        </Box>
        {isSplit && (
          <Box flexDirection="column" width={width}>
            <Lines lines={lines.slice(from + rows, from + page)} width={width} />
          </Box>
        )}
      </Box>
    </Frame>
  );
}

/** Commands with a name in the key bar or the palette, then what moves and goes back. */
export function helpLines(model: Model, { of, filter, width }: { of: Route; filter: string; width: number }): Span[][] {
  const context = contextOf(model, of);
  const bindings = bindingsWithKeys(screenOf(model, of), model);
  const isCommand = ({ id, label }: KeyBinding): boolean => id !== undefined || label !== undefined;
  const linesOf = (binding: BoundKey): Span[][] => {
    const { keys, help, whyNot, when, label = '' } = binding;
    const isThere = when?.(context) ?? true;
    const reason = isThere ? (whyNot?.(context) ?? null) : null;
    const names = keys.map(keyName).join(', ');
    if (!matchesFilter(filter, [names, help, label, binding.palette || null])) return [];
    return keyLines({ keys: names, help, reason, usable: isThere && reason === null, width });
  };
  const everywhere = EVERYWHERE.filter(({ keys, help }) => matchesFilter(filter, [keyName(keys), help]));
  const groups: [string, Span[][]][] = [
    [HELP_GROUPS.commands, bindings.filter(isCommand).flatMap(linesOf)],
    [HELP_GROUPS.moves, bindings.filter((binding) => !isCommand(binding)).flatMap(linesOf)],
    [
      HELP_GROUPS.everywhere,
      everywhere.flatMap(({ keys, help }) =>
        keyLines({ keys: keyName(keys), help, reason: null, usable: true, width }),
      ),
    ],
  ];
  const shown = groups.filter(([, lines]) => lines.length > 0);
  if (shown.length === 0) return [[{ text: HELP_GROUPS.none, tone: 'dim' }]];
  return [
    ...shown.flatMap(([title, lines]): Span[][] => [[{ text: title, tone: 'strong' }], ...lines, []]),
    [{ text: SCRIPTS_HINT, tone: 'dim' }],
  ];
}

interface KeyLines {
  keys: string;
  help: string;
  /** Why it is disabled. */
  reason: string | null;
  usable: boolean;
  width: number;
}

function keyLines({ keys, help, reason, usable, width }: KeyLines): Span[][] {
  const room = Math.max(8, width - KEYS_WIDTH);
  const lines = wrap(help, room).map((text): Span => ({ text, tone: usable ? 'plain' : 'dim' }));
  const reasons = reason === null ? [] : wrap(reason, room).map((text): Span => ({ text, tone: 'caution' }));
  return [...lines, ...reasons].map((span, index) => [
    { text: (index === 0 ? keys : '').padEnd(KEYS_WIDTH), tone: usable ? 'accent' : 'dim' },
    span,
  ]);
}
