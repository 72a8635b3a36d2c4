import { Box } from 'ink';
import { useStore } from 'zustand';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty } from '../../components/empty.tsx';
import type { Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { useTheme } from '../../components/theme.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { type ListState, selectedIndex } from '../../src/state/list.ts';
import type { Message } from '../../src/state/messages.ts';
import { formatNumberOf, formatTime } from '../../src/text/format.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { BACK, HELP, MOVES, PALETTE, RUNS } from '../app/keys.ts';
import { selectedItem } from '../app/lists/in-view.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { EMPTY, OPEN_HINT } from '../app/text.ts';
import { runRoute } from '../commands/runs/run-route.ts';

declare module '../app/route.ts' {
  interface Routes {
    messages: MessagesRoute;
  }
}

interface MessagesRoute {
  screen: 'messages';
  list: ListState;
}

export const messagesScreen: ScreenModule<MessagesRoute> = {
  id: 'messages',
  title: 'Messages',
  view: MessagesView,
  keys: [
    {
      keys: ['enter', 'right'],
      label: 'open',
      help: 'open the run of the message',
      whyNot: ({ model, route }) => (runOf(model, route) === null ? 'There is nothing to open' : null),
      run: (model, route) => {
        const run = runOf(model, route);
        if (run !== null) model.navigation.push(runRoute(run));
      },
      palette: false,
    },
    BACK,
    RUNS,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: ({ messages }) => ({ ids: messages.store.getState().all.map(({ id }) => id) }),
};

function runOf({ messages }: Model, { list }: MessagesRoute): string | null {
  const { all } = messages.store.getState();
  return selectedItem(all, ({ id }) => id, list)?.run ?? null;
}

const MARKS = { good: 'good', caution: 'caution', bad: 'bad', plain: 'none' } as const;

function MessagesView({ route }: { route: MessagesRoute }) {
  const model = useModel();
  const { glyphs } = useTheme();
  const { columns, height } = useRoom();
  const messages = useStore(model.messages.store, ({ all }) => all);
  const ids = messages.map(({ id }) => id);
  const selected = selectedIndex(ids, route.list.selected);
  const message = messages[selected];
  const detailed = message !== undefined && height >= 16;
  const row = ({ at, tone, text }: Message): Span[] => [
    { text: `${clockTime(at)} `, tone: 'dim' },
    { text: `${glyphs[MARKS[tone]]} `, tone },
    { text },
  ];
  return (
    <Frame
      screen="messages"
      path={['messages']}
      aside={[{ text: formatNumberOf(messages.length, 'message'), tone: 'dim' }]}
    >
      {message === undefined && <Empty lines={EMPTY.messages} />}
      {message && (
        <Box flexDirection="column" height={height}>
          <List
            items={messages}
            keyOf={({ id }) => id}
            row={row}
            selected={selected}
            width={columns}
            height={height - (detailed ? DETAIL_ROWS : 0)}
          />
          {detailed && (
            <DetailPane title={titleOf(message, glyphs)} facts={factsOf(message)} width={columns} place="below" />
          )}
        </Box>
      )}
    </Frame>
  );
}

function titleOf({ tone, at }: Message, glyphs: Glyphs): Span[] {
  return [{ text: `${glyphs[MARKS[tone]]} ${formatTime(at)}`, tone }];
}

function factsOf({ text, run }: Message) {
  return [{ name: 'Message', value: text }, ...(run === null ? [] : [{ name: 'Run', value: OPEN_HINT }])];
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}
