import { Box } from 'ink';
import { Empty, Failure } from '../../components/empty.tsx';
import { Line } from '../../components/line.tsx';
import { wrap } from '../../src/cells.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import type { FixRoute } from '../app/route.ts';
import { DiffView } from '../editor-diff/diff-view.tsx';

/** What a fix would change; nothing is changed before Enter. */
export function FixView({ route }: { route: FixRoute }) {
  const { columns, height } = useRoom();
  const { finding, found, error, list } = route;
  const above = wrap(finding, columns - 4);
  return (
    <Frame screen="fix" path={['check', 'mend']}>
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={['Looking what would change…']} />}
      {found && (
        <Box flexDirection="column" paddingTop={1}>
          {above.map((text) => (
            <Line key={text} spans={[{ text: `  ${text}`, tone: 'dim' }]} width={columns} />
          ))}
          <Line spans={[{ text: `  ${found.does}`, tone: 'strong' }]} width={columns} />
          <Line spans={[]} width={columns} />
          {found.change.kind === 'text' ? (
            <DiffView
              change={found.change}
              lines={found.change.diff}
              list={list}
              width={columns}
              height={Math.max(2, height - above.length - 3)}
            />
          ) : (
            found.change.lines
              .flatMap((line) => wrap(line, columns - 4))
              .map((text) => <Line key={text} spans={[{ text: `  ${text}` }]} width={columns} />)
          )}
        </Box>
      )}
    </Frame>
  );
}
