import { Box } from 'ink';
import { Line, type Span } from '../../components/line.tsx';
import { wrap } from '../../src/cells.ts';
import { factsOf } from '../app/facts.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { EVERYWHERE, KEY_TABLE, keyName } from '../app/keys.ts';
import type { Model } from '../app/model.ts';
import type { OtherRoute, Route } from '../app/route.ts';

const KEYS_WIDTH = 18;

/** The keys of the screen one came from, out of the key table; what cannot be used now says why. */
export function HelpView({ route }: { route: Extract<OtherRoute, { screen: 'help' }> }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const lines = helpLines(model, route.of, columns - 3);
  const rows = height - 1;
  const furthest = Math.max(0, lines.length - rows);
  const from = Math.min(route.scrolled, furthest);
  model.viewport.furthest = furthest;
  return (
    <Frame screen="help" path={[route.of.screen, 'help']} aside={partInView({ from, rows, count: lines.length })}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        {lines.slice(from, from + rows).map((spans, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          <Line key={from + index} spans={spans} width={columns - 3} />
        ))}
      </Box>
    </Frame>
  );
}

/** Which lines are seen, where there are more of them than rows. */
function partInView({ from, rows, count }: { from: number; rows: number; count: number }): Span[] {
  if (count <= rows) return [];
  return [{ text: `lines ${from + 1}–${Math.min(count, from + rows)} of ${count}`, tone: 'dim' }];
}

function helpLines(model: Model, of: Route, width: number): Span[][] {
  const facts = factsOf(model, of);
  const keys = KEY_TABLE[of.screen].flatMap(({ keys, help, whyNot, when }) => {
    const isThere = when?.(facts) ?? true;
    const reason = isThere ? (whyNot?.(facts) ?? null) : null;
    return keyLines({ keys: keys.map(keyName).join(', '), help, reason, usable: isThere && reason === null, width });
  });
  return [
    ...keys,
    [],
    [{ text: 'Everywhere', tone: 'strong' }],
    ...EVERYWHERE.flatMap(({ keys, help }) =>
      keyLines({ keys: keyName(keys), help, reason: null, usable: true, width }),
    ),
    [],
    [{ text: 'Every action has a command for scripts: tool --help lists them.', tone: 'dim' }],
  ];
}

interface KeyLines {
  keys: string;
  help: string;
  /** Why it cannot be used now. */
  reason: string | null;
  usable: boolean;
  width: number;
}

/** What a key does, below itself where the window is narrow. */
function keyLines({ keys, help, reason, usable, width }: KeyLines): Span[][] {
  const room = Math.max(8, width - KEYS_WIDTH);
  const lines = wrap(help, room).map((text): Span => ({ text, tone: usable ? 'plain' : 'dim' }));
  const reasons = reason === null ? [] : wrap(reason, room).map((text): Span => ({ text, tone: 'caution' }));
  return [...lines, ...reasons].map((span, index) => [
    { text: (index === 0 ? keys : '').padEnd(KEYS_WIDTH), tone: usable ? 'accent' : 'dim' },
    span,
  ]);
}
