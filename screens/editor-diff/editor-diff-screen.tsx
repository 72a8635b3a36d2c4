import type { DiffLine } from '../../src/config/edit/diff-lines.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { ListState } from '../../src/state/list.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { DiffView } from '../app/frame/diff-view.tsx';
import { Frame } from '../app/frame/frame.tsx';
import { BACK, HELP, MOVES } from '../app/keys.ts';
import { rowsByIndex } from '../app/lists/in-view.ts';
import type { Model, ScreenModule } from '../app/model.ts';

interface EditorDiffRoute {
  screen: 'editor-diff';
  draft: ConfigurationDraft;
  lines: DiffLine[];
  list: ListState;
  /** Enter, once the screen is left. */
  save: () => void;
}

export const editorDiffScreen: ScreenModule<EditorDiffRoute> = {
  title: 'Changes of the configuration file',
  view: EditorDiffView,
  keys: [
    { keys: ['enter'], label: 'save', help: 'write the file', run: accept, stays: true },
    { ...BACK, label: 'continue editing', help: 'back; nothing is changed' },
    HELP,
    ...MOVES,
  ],
  rows: (_, { lines }) => rowsByIndex(lines),
};

function accept({ navigation }: Model, { save }: EditorDiffRoute): void {
  navigation.pop();
  save();
}

function EditorDiffView({ route }: { route: EditorDiffRoute }) {
  const { draft, lines, list } = route;
  const errors = draft.problems.filter(({ severity }) => severity === 'error').length;
  return (
    <Frame
      path={['configuration', 'save']}
      aside={errors === 0 ? [] : [{ text: `${formatNumberOf(errors, 'error')} in it`, tone: 'bad' }]}
    >
      <DiffView
        change={{ before: draft.base, after: draft.text, shape: draft.shape }}
        above={[[{ text: `  ${draft.file}`, tone: 'dim' }]]}
        lines={lines}
        list={list}
      />
    </Frame>
  );
}
