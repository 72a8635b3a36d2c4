import { Box } from 'ink';
import { Line, type Span } from '../../components/line.tsx';
import { SCRIPTS_HINT } from '../../src/presentation/lists.ts';
import { wrap } from '../../src/text/text-width.ts';
import { Frame, linesInView, useModel, useRoom } from '../app/frame.tsx';
import { BACK, bindingsWithKeys, EVERYWHERE, HELP, keyName, MOVES_WITHOUT_TAB, moving } from '../app/keys.ts';
import { contextOf, type Model, type ScreenModule, screenOf } from '../app/model.ts';
import { scrolledDown } from '../app/navigate.ts';
import type { Route } from '../app/route.ts';

declare module '../app/route.ts' {
  interface Routes {
    help: HelpRoute;
  }
}

interface HelpRoute {
  screen: 'help';
  of: Route;
  /** Lines. */
  scrolled: number;
}

export const helpScreen: ScreenModule<HelpRoute> = {
  id: 'help',
  title: 'Help',
  view: HelpView,
  keys: [
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
  onMove: (model, route, move) =>
    model.navigation.replace({ ...route, scrolled: scrolledDown(model, route.scrolled, move) }),
};

const KEYS_WIDTH = 18;

/** The keys of the screen below, with the reasons of disabled commands. */
function HelpView({ route }: { route: HelpRoute }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const lines = helpLines(model, route.of, columns - 3);
  const rows = height - 1;
  const furthest = Math.max(0, lines.length - rows);
  const from = Math.min(route.scrolled, furthest);
  model.viewport.furthest = furthest;
  model.viewport.page = rows;
  return (
    <Frame screen="help" path={[route.of.screen, 'help']} aside={linesInView({ from, rows, count: lines.length })}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        {lines.slice(from, from + rows).map((spans, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          <Line key={from + index} spans={spans} width={columns - 3} />
        ))}
      </Box>
    </Frame>
  );
}

function helpLines(model: Model, of: Route, width: number): Span[][] {
  const context = contextOf(model, of);
  const keys = bindingsWithKeys(screenOf(model, of), model).flatMap(({ keys, help, whyNot, when }) => {
    const isThere = when?.(context) ?? true;
    const reason = isThere ? (whyNot?.(context) ?? null) : null;
    return keyLines({ keys: keys.map(keyName).join(', '), help, reason, usable: isThere && reason === null, width });
  });
  return [
    ...keys,
    [],
    [{ text: 'Everywhere', tone: 'strong' }],
    ...EVERYWHERE.flatMap(({ keys, help }) =>
      keyLines({ keys: keyName(keys), help, reason: null, usable: true, width }),
    ),
    [],
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
