import { Box } from 'ink';
import { Line } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import {
  type DiagramPlace,
  diagramLines,
  diagramText,
  neighbourhood,
  selectedIn,
} from '../../src/presentation/subset-diagram.ts';
import type { SubsetGraph } from '../../src/results/subset-results.ts';
import type { Move } from '../../src/state/list.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { BACK, HELP, MOVES, PALETTE, TASKS } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { pageOf } from '../app/navigate.ts';

declare module '../app/route.ts' {
  interface Routes {
    'subset-graph': SubsetGraphRoute;
  }
}

interface SubsetGraphRoute {
  screen: 'subset-graph';
  target: string;
  graph: SubsetGraph;
  place: DiagramPlace;
}

export const subsetGraphScreen: ScreenModule<SubsetGraphRoute> = {
  id: 'subset-graph',
  title: 'Diagram of a subset',
  view: SubsetGraphView,
  keys: [
    {
      keys: ['right'],
      label: 'right',
      help: 'the next table to the right: the tables that this one references',
      run: (model, route) => across(model, route, 1),
      palette: false,
    },
    {
      keys: ['left'],
      label: 'left',
      help: 'the next table to the left: the tables that reference this one',
      run: (model, route) => across(model, route, -1),
      palette: false,
    },
    {
      keys: ['enter'],
      label: 'zoom',
      help: 'show the neighbours of the selected table',
      run: ({ navigation }, route) =>
        navigation.replace({ ...route, place: focusOn(selectedIn(route.graph, route.place).table) }),
      palette: false,
    },
    { ...BACK, keys: ['esc'] },
    TASKS,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  onMove: moveWithin,
};

function focusOn(focus: string): DiagramPlace {
  return { focus, side: 'focus', index: 0 };
}

/** Through the columns; beyond the last one the selected table becomes the focus. */
function across({ navigation }: Model, route: SubsetGraphRoute, direction: 1 | -1): void {
  const { graph, place } = route;
  const side = direction === 1 ? 'right' : 'left';
  const to = (next: DiagramPlace): void => navigation.replace({ ...route, place: next });
  if (place.side !== 'focus' && place.side !== side) {
    to({ ...place, side: 'focus', index: 0 });
    return;
  }
  const focus = place.side === side ? selectedIn(graph, place).table : place.focus;
  const hasMore = neighbourhood(graph, focus)[side].length > 0;
  if (hasMore) to({ focus, side, index: 0 });
  else if (focus !== place.focus) to(focusOn(focus));
}

function moveWithin(model: Model, route: SubsetGraphRoute, move: Move): void {
  const { graph, place } = route;
  if (place.side === 'focus') return;
  const last = neighbourhood(graph, place.focus)[place.side].length - 1;
  const page = pageOf(model);
  const distances: Record<Move, number> = {
    ...{ up: -1, down: 1, 'page-up': -page, 'page-down': page },
    ...{ first: Number.NEGATIVE_INFINITY, last: Number.POSITIVE_INFINITY },
  };
  const index = Math.max(0, Math.min(last, place.index + distances[move]));
  model.navigation.replace({ ...route, place: { ...place, index } });
}

function SubsetGraphView({ route }: { route: SubsetGraphRoute }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { target, graph, place } = route;
  const lines = diagramLines({ graph, place, width: columns, height: height - 1, glyphs });
  return (
    <Frame
      screen="subset-graph"
      path={[target, 'subset', 'diagram']}
      aside={[{ text: formatNumberOf(graph.tables.length, 'table'), tone: 'dim' }]}
    >
      <Box flexDirection="column">
        {lines.slice(0, height - 1).map((spans, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          <Line key={index} spans={spans} width={columns} />
        ))}
        <Line spans={[{ text: `  ${diagramText(graph, place)}`, tone: 'strong' }]} width={columns} />
      </Box>
    </Frame>
  );
}
