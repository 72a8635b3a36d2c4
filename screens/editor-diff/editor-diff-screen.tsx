import { formatNumberOf } from '../../src/amounts.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import type { EditorDiffRoute } from '../editor/editor-routes.ts';
import { DiffView } from './diff-view.tsx';

/** What saving would change in the file. */
export function EditorDiffView({ route }: { route: EditorDiffRoute }) {
  const { columns, height } = useRoom();
  const { draft, lines, list } = route;
  const errors = draft.problems.filter(({ severity }) => severity === 'error').length;
  return (
    <Frame
      screen="editor-diff"
      path={['configuration', 'save']}
      aside={errors === 0 ? [] : [{ text: `${formatNumberOf(errors, 'error')} in it`, tone: 'bad' }]}
    >
      <DiffView change={draft} lines={lines} list={list} width={columns} height={height} />
    </Frame>
  );
}
