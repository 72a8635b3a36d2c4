import { Box } from 'ink';
import { Line, type Span } from '../../components/line.tsx';
import { factsOf } from '../facts.ts';
import { Frame, useModel, useRoom } from '../frame.tsx';
import { EVERYWHERE, KEY_TABLE, keyName } from '../keys.ts';
import type { Model } from '../model.ts';
import type { OtherPlace, Place } from '../place.ts';

const KEYS_WIDTH = 18;

/** The keys of the screen one came from, out of the key table; what cannot be used now says why. */
export function HelpScreen({ place }: { place: Extract<OtherPlace, { screen: 'help' }> }) {
  const model = useModel();
  const { columns, height } = useRoom();
  const lines = helpLines(model, place.of);
  const from = Math.max(0, Math.min(place.scrolled, lines.length - height + 1));
  return (
    <Frame screen="help" path={[place.of.screen, 'help']}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        {lines.slice(from, from + height - 1).map((spans, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          <Line key={from + index} spans={spans} width={columns - 3} />
        ))}
      </Box>
    </Frame>
  );
}

function helpLines(model: Model, of: Place): Span[][] {
  const facts = factsOf(model, of);
  const keys = KEY_TABLE[of.screen].map(({ keys, help, whyNot, when }) => {
    const reason = when && !when(facts) ? null : (whyNot?.(facts) ?? null);
    return keyLine(keys.map(keyName).join(', '), help, reason);
  });
  return [
    ...keys,
    [],
    [{ text: 'Everywhere', tone: 'strong' }],
    ...EVERYWHERE.map(({ keys, help }) => keyLine(keyName(keys), help, null)),
    [],
    [{ text: 'Every action has a command for scripts: tool --help lists them.', tone: 'dim' }],
  ];
}

function keyLine(keys: string, help: string, reason: string | null): Span[] {
  return [
    { text: keys.padEnd(KEYS_WIDTH), tone: reason === null ? 'accent' : 'dim' },
    { text: help, tone: reason === null ? 'plain' : 'dim' },
    { text: reason === null ? '' : `  ${reason}`, tone: 'caution' },
  ];
}
