import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty } from '../../components/empty.tsx';
import { List } from '../../components/list.tsx';
import { useTheme } from '../../components/theme.ts';
import { selectedIndex } from '../../src/state/list.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import type { EditorProblemsRoute } from '../editor/editor-routes.ts';

/** All that `config check` would find in the configuration as it is edited. */
export function EditorProblemsView({ route }: { route: EditorProblemsRoute }) {
  const { glyphs } = useTheme();
  const { columns, height } = useRoom();
  const { problems } = route.draft;
  const selected = selectedIndex(
    problems.map((_, index) => String(index)),
    route.list.selected,
  );
  const problem = problems[selected];
  return (
    <Frame screen="editor-problems" path={['configuration', 'problems']}>
      {!problem && <Empty lines={['Nothing is wrong.']} />}
      <List
        items={[...problems.entries()]}
        keyOf={([index]) => String(index)}
        row={([, { severity, message }]) => [
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
            ...(problem.hint ? [{ name: 'What to do', value: problem.hint }] : []),
            ...(problem.line === null ? [] : [{ name: 'Line', value: `${problem.line}:${problem.column}` }]),
          ]}
          width={columns}
          place="below"
        />
      )}
    </Frame>
  );
}
