import { Box } from 'ink';
import { Empty, Failure } from '../../components/empty.tsx';
import { Line } from '../../components/line.tsx';
import type { Shape } from '../../src/config/schema/shape.ts';
import type { FixPlan } from '../../src/operations/configuration/fix.ts';
import type { ListState } from '../../src/state/list.ts';
import { wrap } from '../../src/text/text-width.ts';
import type { Fetched } from '../app/fetched.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { rowsByIndex } from '../app/in-view.ts';
import { BACK, HELP, MOVES } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { applyFix } from '../doctor/actions.ts';
import { DiffView } from '../editor-diff/diff-view.tsx';

declare module '../app/route.ts' {
  interface Routes {
    fix: FixRoute;
  }
}

export interface ShownFix {
  plan: FixPlan;
  shape: Shape;
}

interface FixRoute extends Fetched<ShownFix> {
  screen: 'fix';
  /** What the check has found. */
  finding: string;
  list: ListState;
}

export const fixScreen: ScreenModule<FixRoute> = {
  id: 'fix',
  title: 'What mends a finding',
  view: FixView,
  keys: [
    {
      keys: ['enter'],
      label: 'do it',
      help: 'do what is shown, then look at everything again',
      whyNot: ({ route }) => (route.found && !route.error ? null : 'What it would do is not known yet'),
      run: (model, route) => void applyFix(model, route),
      stays: true,
      palette: false,
    },
    { ...BACK, label: 'leave it', help: 'back; nothing is changed' },
    HELP,
    ...MOVES,
  ],
  rows: (_, { found }) => rowsByIndex(found?.plan.change.kind === 'text' ? found.plan.change.diff : []),
};

export function FixView({ route }: { route: FixRoute }) {
  const { columns, height } = useRoom();
  const { finding, found, error, list } = route;
  const change = found?.plan.change;
  const above = wrap(finding, columns - 4);
  return (
    <Frame screen="fix" path={['check', 'mend']}>
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={['Looking what would change…']} />}
      {found && change && (
        <Box flexDirection="column" paddingTop={1}>
          {above.map((text) => (
            <Line key={text} spans={[{ text: `  ${text}`, tone: 'dim' }]} width={columns} />
          ))}
          <Line spans={[{ text: `  ${found.plan.does}`, tone: 'strong' }]} width={columns} />
          <Line spans={[]} width={columns} />
          {change.kind === 'text' ? (
            <DiffView
              change={{ ...change, shape: found.shape }}
              lines={change.diff}
              list={list}
              width={columns}
              height={Math.max(2, height - above.length - 3)}
            />
          ) : (
            change.lines
              .flatMap((line) => wrap(line, columns - 4))
              .map((text) => <Line key={text} spans={[{ text: `  ${text}` }]} width={columns} />)
          )}
        </Box>
      )}
    </Frame>
  );
}
