import { Empty, Failure } from '../../components/empty.tsx';
import { Lines, type Span } from '../../components/line.tsx';
import type { ListState } from '../../src/state/list.ts';
import { wrap } from '../../src/text/text-width.ts';
import { DiffView } from '../app/frame/diff-view.tsx';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { CANCEL, HELP, MOVES } from '../app/keys.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import type { ShownFix } from '../app/operations.ts';
import { LOADING } from '../app/text.ts';
import { applyFix } from '../commands/configuration/check.ts';

interface FixRoute extends FetchState<ShownFix> {
  screen: 'fix';
  /** The problem that the check found. */
  finding: string;
  list: ListState;
}

export const fixScreen: ScreenModule<FixRoute> = {
  title: 'Fix of a problem',
  view: FixView,
  keys: [
    {
      keys: ['enter'],
      label: 'apply',
      help: 'apply the fix, then check again',
      whyNot: ({ route }) => (route.found && !route.error ? null : 'The fix is not ready yet'),
      run: (model, route) => void applyFix(model, route),
      stays: true,
    },
    CANCEL,
    HELP,
    ...MOVES,
  ],
  rows: (_, { found }) => rowsByIndex(found?.plan.change.kind === 'text' ? found.plan.change.diff : []),
};

/** In lower windows there are no empty lines. */
const SPACED_FROM = 12;

function FixView({ route }: { route: FixRoute }) {
  const { columns, height } = useRoom();
  const { finding, found, error, list } = route;
  const change = found?.plan.change;
  const blank: Span[][] = height >= SPACED_FROM ? [[]] : [];
  const above = found
    ? [
        ...blank,
        ...indented([finding], columns).map((text): Span[] => [{ text, tone: 'dim' }]),
        [{ text: `  ${found.plan.does}`, tone: 'strong' as const }],
        ...blank,
      ]
    : [];
  return (
    <Frame path={['check', 'fix']}>
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={LOADING.fix} />}
      {found && change?.kind === 'text' && (
        <DiffView
          change={{ before: change.base, after: change.text, shape: found.shape }}
          above={[...above, [{ text: `  ${change.file}`, tone: 'dim' }]]}
          lines={change.diff}
          list={list}
        />
      )}
      {change?.kind === 'said' && (
        <Lines lines={[...above, ...indented(change.lines, columns).map((text) => [{ text }])]} width={columns} />
      )}
    </Frame>
  );
}

function indented(lines: string[], columns: number): string[] {
  return lines.flatMap((line) => wrap(line, columns - 4)).map((text) => `  ${text}`);
}
