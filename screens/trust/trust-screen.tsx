import { Line, Lines } from '../../components/line.tsx';
import { List } from '../../components/list.tsx';
import { contentWidth } from '../../components/page.tsx';
import type { UntrustedConfiguration } from '../../src/config/trust/untrusted-configuration.ts';
import { LABEL_WIDTH, type TrustLine, trustAbout } from '../../src/operations/trust/trust-text.ts';
import type { ListState } from '../../src/state/list.ts';
import { wrap } from '../../src/text/text-width.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { BACK, HELP, MOVES } from '../app/keys.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { answerTrust, openUntrusted } from '../commands/configuration/trust.ts';

interface TrustRoute {
  screen: 'trust';
  error: UntrustedConfiguration;
  lines: TrustLine[];
  list: ListState;
}

export const trustScreen: ScreenModule<TrustRoute> = {
  title: 'Trust of the configuration of this folder',
  view: TrustView,
  keys: [
    {
      id: 'trust',
      label: 'trust',
      help: 'trust the configuration as shown, and read it',
      run: (model, { error }) => void answerTrust(model, error),
      stays: true,
      palette: false,
    },
    {
      id: 'edit',
      label: 'open file',
      help: 'open the file in your editor, then read it again',
      run: (model, { error }) => void openUntrusted(model, error),
      palette: false,
    },
    { ...BACK, label: "don't trust", help: 'back; the configuration is not used', stays: true },
    HELP,
    ...MOVES,
  ],
  rows: ({ terminal }, { lines }) => rowsByIndex(wrapped(lines, contentWidth(terminal.columns()))),
};

/** Cells of the pointer, and of the gap behind the labels. */
const MARGIN = 4;

/** Nothing may be cut. */
function wrapped(lines: TrustLine[], width: number): TrustLine[] {
  return lines.flatMap(({ label, text }) =>
    wrap(text, width - LABEL_WIDTH - MARGIN).map((part, index) => ({ label: index === 0 ? label : '', text: part })),
  );
}

/** Rows. */
const LEAST_ITEMS = 3;

function TrustView({ route }: { route: TrustRoute }) {
  const { columns, height } = useRoom();
  const { error, list } = route;
  const lines = wrapped(route.lines, columns);
  const about = trustAbout(error.request).flatMap((text) => wrap(text, columns - 4));
  // What is asked about stays in view.
  const above = about.slice(0, Math.max(1, height - LEAST_ITEMS));
  const spaced = height - above.length > LEAST_ITEMS;
  return (
    <Frame path={['trust']}>
      <Lines
        lines={above.map((text, index) => [{ text: `  ${text}`, tone: index === 0 ? 'strong' : 'plain' }])}
        width={columns}
      />
      {spaced && <Line spans={[]} width={columns} />}
      <List
        items={lines}
        row={({ label, text }) => [{ text: `${label.padEnd(LABEL_WIDTH)}  `, tone: 'dim' }, { text }]}
        selected={positionIn(rowsByIndex(lines), list.selected)}
        width={columns}
        height={height - above.length - (spaced ? 1 : 0)}
      />
    </Frame>
  );
}
