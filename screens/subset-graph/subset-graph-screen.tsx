import { Box, useIsScreenReaderEnabled } from 'ink';
import { useMemo } from 'react';
import { TitledRule } from '../../components/detail-pane.tsx';
import { Line, Lines, type Span } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { useTheme } from '../../components/theme.ts';
import type { SubsetGraph } from '../../src/results/subset-results.ts';
import type { Move } from '../../src/state/list.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { ACTIVITY, BACK, LIST_KEYS } from '../app/keys.ts';
import type { KeyBinding, Model, ScreenModule } from '../app/model.ts';
import { pageOf } from '../app/navigate.ts';
import { drawDiagram } from './draw.ts';
import { diagramFacts, factsByTable, IN_THE_MIDDLE, legend, lineOf, shortNames, stepHeading } from './text.ts';
import { type DiagramNode, diagramTree, movedTo, neighbourAt, nodesOf, nodeWithId, type Side } from './tree.ts';

export interface SubsetGraphRoute {
  screen: 'subset-graph';
  target: string;
  graph: SubsetGraph;
  /** The table in the middle. */
  focus: string;
  /** The tables that were in the middle before. */
  trail: string[];
  /** Id of a place; `null`: the middle. */
  selected: string | null;
  /** Places whose neighbours are shown beyond the usual steps. */
  open: string[];
}

export const subsetGraphScreen: ScreenModule<SubsetGraphRoute> = {
  title: 'Diagram of a subset',
  view: SubsetGraphView,
  keys: [
    {
      keys: ['enter'],
      label: 'center',
      help: 'center the table',
      whyNot: ({ route }) => (selectedNode(route).node.near === null ? IN_THE_MIDDLE : null),
      run: ({ navigation }, route) => navigation.replace(centered(route, selectedNode(route).node.table)),
    },
    followKey('left', -1),
    followKey('right', 1),
    { ...BACK, keys: ['esc'] },
    ACTIVITY,
    ...LIST_KEYS,
  ],
  onMove: moveWithin,
  onBack: backOnTrail,
};

function followKey(key: 'left' | 'right', side: Side): KeyBinding<SubsetGraphRoute> {
  return {
    keys: [key],
    ...(side < 0 ? { shown: '←→', label: 'follow' } : {}),
    help: 'follow references',
    run: ({ navigation }, route) => navigation.replace(followed(route, side)),
  };
}

function selectedNode({ graph, focus, open, selected }: SubsetGraphRoute) {
  const tree = diagramTree({ graph, focus, open });
  return { tree, node: nodeWithId(tree, selected) };
}

function followed(route: SubsetGraphRoute, side: Side): SubsetGraphRoute {
  const { tree, node } = selectedNode(route);
  const found = neighbourAt(tree, { selected: node, side });
  if (found === null) return route;
  if ('id' in found) return { ...route, selected: found.id };
  const opened = { ...route, open: [...route.open, found.opened] };
  return { ...opened, selected: selectedNode(opened).node.shown[0]?.id ?? route.selected };
}

/** A table of the trail is gone back to. */
function centered(route: SubsetGraphRoute, table: string): SubsetGraphRoute {
  const trail = [...route.trail, route.focus];
  const at = trail.indexOf(table);
  return { ...route, focus: table, trail: at === -1 ? trail : trail.slice(0, at), selected: null, open: [] };
}

function backOnTrail({ navigation }: Model, route: SubsetGraphRoute): void {
  const focus = route.trail.at(-1);
  if (focus === undefined) {
    navigation.pop();
    return;
  }
  const before = centered(route, focus);
  const from = nodesOf(selectedNode(before).tree).find(({ table }) => table === route.focus);
  navigation.replace({ ...before, selected: from?.id ?? null });
}

function moveWithin(model: Model, route: SubsetGraphRoute, move: Move): void {
  const { tree, node } = selectedNode(route);
  const stacked = model.viewport.stacked ?? false;
  const selected = movedTo(tree, { selected: node, move, page: pageOf(model), stacked });
  model.navigation.replace({ ...route, selected });
}

/** Narrower, the tables are lines below each other. */
const COLUMNS_FROM = 64;
/** Lines from which the facts of the selected table are below the diagram. */
const FACTS_FROM = 14;

function SubsetGraphView({ route }: { route: SubsetGraphRoute }) {
  const { columns: width, height } = useRoom();
  const isRead = useIsScreenReaderEnabled();
  const { glyphs } = useTheme();
  const { viewport } = useModel();
  const { graph, focus, open, target, trail } = route;
  const tree = useMemo(() => diagramTree({ graph, focus, open }), [graph, focus, open]);
  const node = nodeWithId(tree, route.selected);
  const stacked = isRead || width < COLUMNS_FROM;
  viewport.stacked = stacked;
  const name = shortNames(graph);
  const facts = diagramFacts(graph, node);
  const below = height < FACTS_FROM ? 1 : facts.length + (stacked ? 1 : 2);
  return (
    <Frame
      path={[target, 'subset', 'diagram', ...trail.map(name), name(focus)]}
      aside={[{ text: formatNumberOf(graph.tables.length, 'table'), tone: 'dim' }]}
    >
      <Box flexDirection="column">
        {stacked ? (
          <Stacked route={route} nodes={nodesOf(tree)} selected={node} width={width} height={height - below} />
        ) : (
          <Lines
            lines={drawDiagram(tree, { graph, selected: node, width, height: height - below, glyphs })}
            width={width}
          />
        )}
        {below === 1 ? (
          <Line spans={[{ text: '  ' }, ...(facts.at(-1) ?? [])]} width={width} />
        ) : (
          <>
            <TitledRule title={[{ text: node.table, tone: 'strong' }]} width={width} />
            <Lines lines={facts.map((spans) => [{ text: '  ' }, ...spans])} width={width} />
            {!stacked && <Line spans={[{ text: '  ' }, ...legend(graph, glyphs)]} width={width} />}
          </>
        )}
      </Box>
    </Frame>
  );
}

interface StackedProps {
  route: SubsetGraphRoute;
  nodes: DiagramNode[];
  selected: DiagramNode;
  width: number;
  height: number;
}

/** A line for each table, below a heading for each side. */
function Stacked({ route: { graph }, nodes, selected, width, height }: StackedProps) {
  const { glyphs } = useTheme();
  const name = shortNames(graph);
  const factsOf = factsByTable(graph);
  const items = nodes.flatMap((node, at) => {
    const isFirst = node.step !== 0 && Math.sign(node.step) !== Math.sign(nodes[at - 1]?.step ?? 0);
    const count = nodes.filter(({ step }) => step === node.step).length;
    return isFirst ? [{ heading: stepHeading(node.step, count) }, { node }] : [{ node }];
  });
  return (
    <List<StackedItem>
      items={items}
      row={(item): Span[] =>
        'node' in item
          ? lineOf(item.node, { factsOf, glyphs, name, width: Math.min(width, WIDEST_LINE) - 2 })
          : [{ text: item.heading, tone: 'dim' }]
      }
      selected={items.findIndex((item) => 'node' in item && item.node.id === selected.id)}
      isHeading={(item) => 'heading' in item}
      width={width}
      height={height}
    />
  );
}

/** The rows stand at the end of such a line. */
const WIDEST_LINE = 76;

type StackedItem = { heading: string } | { node: DiagramNode };
