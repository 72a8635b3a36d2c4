import { useMemo } from 'react';
import type { Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import {
  type SubsetTreeRow,
  subsetColumns,
  subsetSizeText,
  subsetTableFacts,
  subsetTree,
} from '../../src/operations/subset/text.ts';
import type { Fact } from '../../src/presentation/shapes/fact.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { ACTIVITY, BACK, LIST_KEYS } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { LOADING } from '../app/text.ts';
import { notWritable } from '../app/why-not.ts';
import { changeShare, confirmSubset, copyTable, excludeTable, saveSubset, showDiagram } from './actions.ts';
import { subsetTarget } from './choices.ts';
import { type SubsetRoute, subsetRows } from './subset-route.ts';

export const subsetScreen: ScreenModule<SubsetRoute> = {
  title: 'Plan of a subset',
  view: SubsetView,
  keys: [
    {
      keys: ['enter'],
      label: 'create',
      help: 'create the subset as planned here; shows the plan and asks first',
      palette: 'Create subset…',
      whyNot: (context) => notWritable(context) ?? (isPlanned(context.route) ? null : 'The plan is not ready yet'),
      run: confirmSubset,
    },
    {
      id: 'diagram',
      keys: ['O', 'right'],
      label: 'diagram',
      help: 'the table and its neighbours as a diagram, with the references by which rows come',
      palette: 'Show diagram',
      whyNot: ({ route }) => (route.found ? null : 'The plan is not ready yet'),
      run: showDiagram,
    },
    {
      id: 'exclude',
      label: 'exclude',
      help: 'exclude the table: create it empty, or include it again',
      palette: 'Exclude table',
      run: excludeTable,
    },
    {
      id: 'all_rows',
      label: 'copy all rows',
      help: 'copy all rows of the table, or only the required ones again',
      palette: 'Copy all rows of the table',
      run: copyTable,
    },
    {
      id: 'more',
      label: 'more',
      help: 'a larger share of the rows',
      palette: 'Enlarge share',
      run: (model, route) => changeShare(model, route, 1),
    },
    {
      id: 'less',
      label: 'less',
      help: 'a smaller share of the rows',
      palette: 'Reduce share',
      run: (model, route) => changeShare(model, route, -1),
    },
    {
      id: 'write',
      keys: ['w'],
      label: 'save',
      help: 'save these settings in the configuration; comments are kept',
      palette: 'Save subset settings',
      whyNot: notWritable,
      run: saveSubset,
      stays: true,
    },
    BACK,
    ACTIVITY,
    ...LIST_KEYS,
  ],
  rows: (_, route) => ({ ids: subsetRows(route).map(({ table }) => table) }),
};

function isPlanned({ found, error, counting }: SubsetRoute): boolean {
  return found !== null && error === null && !counting;
}

function SubsetView({ route }: { route: SubsetRoute }) {
  const { glyphs } = useTheme();
  const { target, found, choices } = route;
  const rows = useMemo(() => subsetTree(found?.shown.tables ?? []), [found]);
  const columns = useMemo(() => subsetColumns({ glyphs }), [glyphs]);
  return (
    <ListFrame
      route={route}
      path={[target, 'subset']}
      aside={summary(route)}
      columns={columns}
      rows={rows}
      empty={found ? [] : LOADING.subset}
      detail={(shown) => ({ title: shown.table, facts: rowFacts(shown, choices) })}
    />
  );
}

function rowFacts(row: SubsetTreeRow, choices: SubsetChoices | null): Fact[] {
  const target = choices && subsetTarget(choices, row.table);
  return subsetTableFacts(row, target?.percent === undefined ? target?.where : `${target.percent} %`);
}

function summary({ found, counting, changed }: SubsetRoute): Span[] {
  if (!found) return [];
  return [
    ...(changed ? [{ text: 'not saved  ', tone: 'caution' as const }] : []),
    { text: counting ? 'counting…' : subsetSizeText(found.shown.tables), tone: 'dim' },
  ];
}
