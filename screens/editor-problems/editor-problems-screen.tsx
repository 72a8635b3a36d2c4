import { useMemo } from 'react';
import { useTheme } from '../../components/theme.ts';
import { pathOfKey } from '../../src/config/yaml/path-of-key.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Column } from '../../src/presentation/shapes/column.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { ListState } from '../../src/state/list.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, HELP, MOVES } from '../app/keys.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { EMPTY } from '../app/text.ts';
import { selectInEditor } from '../commands/configuration/edit-configuration.ts';

interface EditorProblemsRoute {
  screen: 'editor-problems';
  draft: ConfigurationDraft;
  list: ListState;
}

export const editorProblemsScreen: ScreenModule<EditorProblemsRoute> = {
  title: 'Problems of the edited configuration',
  view: EditorProblemsView,
  keys: [
    {
      keys: ['enter', 'right'],
      label: 'open',
      help: 'open the field or section of the problem',
      run: goToProblem,
    },
    BACK,
    HELP,
    ...MOVES,
  ],
  rows: (_, { draft }) => rowsByIndex(draft.problems),
};

function selectedProblem({ draft, list }: EditorProblemsRoute): number {
  return positionIn(rowsByIndex(draft.problems), list.selected);
}

function goToProblem(model: Model, route: EditorProblemsRoute): void {
  const { draft } = route;
  const key = draft.problems[selectedProblem(route)]?.key ?? '';
  model.navigation.pop();
  selectInEditor(model, pathOfKey(draft.written, key));
}

function EditorProblemsView({ route }: { route: EditorProblemsRoute }) {
  const { glyphs } = useTheme();
  const columns = useMemo(() => problemColumns(glyphs), [glyphs]);
  return (
    <ListFrame
      route={route}
      path={['configuration', 'problems']}
      columns={columns}
      rows={route.draft.problems}
      empty={EMPTY.problems}
      detail={({ key, message, hint, line, column }) => ({
        title: key || 'configuration',
        facts: [
          { name: 'Problem', value: message },
          ...(hint ? [{ name: 'Hint', value: hint }] : []),
          ...(line === null ? [] : [{ name: 'Line', value: `${line}:${column}` }]),
        ],
      })}
    />
  );
}

function problemColumns({ bad, caution }: Glyphs): Column<ConfigurationDraft['problems'][number]>[] {
  return [
    {
      title: '',
      whole: true,
      cell: ({ severity }) => (severity === 'error' ? { text: bad, tone: 'bad' } : { text: caution, tone: 'caution' }),
    },
    { title: 'PROBLEM', grows: true, essential: true, cell: ({ message }) => ({ text: message }) },
  ];
}
