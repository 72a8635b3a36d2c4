import { Box } from 'ink';
import { Line, Lines } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import { diagramLines, diagramText, focusOn, neighbourhood } from '../../src/operations/subset/diagram-text.ts';
import type { SubsetGraph } from '../../src/results/subset-results.ts';
import { emptyList, type Move, moveSelection } from '../../src/state/list.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { ACTIVITY, BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
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
  /** The table between its neighbours. */
  focus: string;
  selected: number;
}

export const subsetGraphScreen: ScreenModule<SubsetGraphRoute> = {
  id: 'subset-graph',
  title: 'Diagram of a subset',
  view: SubsetGraphView,
  keys: [
    {
      keys: ['enter', 'right'],
      label: 'zoom',
      help: 'show the neighbours of the selected table',
      run: ({ navigation }, { graph, focus, selected, ...route }) => {
        const { table = focus } = neighbourhood(graph, focus)[selected] ?? {};
        navigation.replace({ ...route, graph, ...focusOn(graph, table) });
      },
      palette: false,
    },
    BACK,
    ACTIVITY,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  onMove: moveWithin,
};

function moveWithin(model: Model, route: SubsetGraphRoute, move: Move): void {
  const ids = neighbourhood(route.graph, route.focus).map((_, index) => `${index}`);
  const { selected } = moveSelection(emptyList, { ids, index: route.selected, move, page: pageOf(model) });
  model.navigation.replace({ ...route, selected: Number(selected) });
}

function SubsetGraphView({ route }: { route: SubsetGraphRoute }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { target, graph, focus, selected } = route;
  const neighbour = neighbourhood(graph, focus)[selected];
  return (
    <Frame
      screen="subset-graph"
      path={[target, 'subset', 'diagram']}
      aside={[{ text: formatNumberOf(graph.tables.length, 'table'), tone: 'dim' }]}
    >
      <Box flexDirection="column">
        <Lines lines={diagramLines({ graph, focus, selected, height: height - 1, glyphs })} width={columns} />
        {neighbour && <Line spans={[{ text: `  ${diagramText(graph, neighbour)}`, tone: 'strong' }]} width={columns} />}
      </Box>
    </Frame>
  );
}
