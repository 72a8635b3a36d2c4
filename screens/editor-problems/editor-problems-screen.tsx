import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty } from '../../components/empty.tsx';
import { List } from '../../components/list.tsx';
import { useTheme } from '../../components/theme.ts';
import { pathOfKey } from '../../src/config/yaml/path-of-key.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { ListState } from '../../src/state/list.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
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
  const { columns, height } = useRoom();
  const { problems } = route.draft;
  const selected = selectedProblem(route);
  const problem = problems[selected];
  return (
    <Frame path={['configuration', 'problems']}>
      {!problem && <Empty lines={EMPTY.problems} />}
      <List
        items={problems}
        row={({ severity, message }) => [
          severity === 'error'
            ? { text: `${glyphs.bad} `, tone: 'bad' }
            : { text: `${glyphs.caution} `, tone: 'caution' },
          { text: message },
        ]}
        selected={selected}
        width={columns}
        height={Math.max(1, height - DETAIL_ROWS)}
      />
      {problem && (
        <DetailPane
          title={[{ text: problem.key || 'configuration', tone: 'strong' }]}
          facts={[
            { name: 'Problem', value: problem.message },
            ...(problem.hint ? [{ name: 'Hint', value: problem.hint }] : []),
            ...(problem.line === null ? [] : [{ name: 'Line', value: `${problem.line}:${problem.column}` }]),
          ]}
          width={columns}
          place="below"
        />
      )}
    </Frame>
  );
}
