import { Box, Text, useAnimation, useIsScreenReaderEnabled } from 'ink';
import { Facts } from '../../components/facts.tsx';
import { Line } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import {
  signedInFacts,
  signInFailure,
  signInLead,
  signInState,
  URL_COPIED,
} from '../../src/operations/sign-in/text.ts';
import { printable } from '../../src/text/printable.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { BACK, HELP } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { beginSignIn, type SignInRoute } from '../commands/sign-in.ts';

export const signInScreen: ScreenModule<SignInRoute> = {
  title: 'Signing in',
  view: SignInView,
  keys: [
    {
      id: 'copy',
      label: 'copy the URL',
      help: 'copy the URL to the clipboard',
      palette: 'Copy URL',
      when: ({ route: { prompt, result, error } }) => prompt !== null && result === null && error === null,
      run: copySignInUrl,
    },
    {
      id: 'other_device',
      label: 'by a code',
      help: 'sign in with a code, in a browser on any machine',
      palette: 'Sign in with a code',
      when: ({ route: { result, error } }) => result === null || error !== null,
      run: (model, { provider }) => beginSignIn(model, { provider, device: true }),
    },
    {
      id: 'refresh',
      label: 'again',
      help: 'sign in again',
      palette: 'Sign in again',
      when: ({ route }) => route.error !== null,
      run: (model, { provider }) => beginSignIn(model, { provider, device: false }),
    },
    BACK,
    HELP,
  ],
};

/** Through the terminal itself: it works over SSH. */
function copySignInUrl({ terminal, navigation }: Model, { prompt }: SignInRoute): void {
  if (!prompt) return;
  terminal.copy(prompt.url);
  navigation.notify({ tone: 'good', text: URL_COPIED });
}

function SignInView({ route }: { route: SignInRoute }) {
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const width = columns - 3;
  const { prompt, qr, result, error } = route;
  const ended = result !== null || error !== null;
  // A screen reader would read each second.
  const isCounting = !useIsScreenReaderEnabled() && !ended && prompt !== null;
  const { time } = useAnimation({ interval: 1000, isActive: isCounting });
  const state = signInState(route, time);
  const above = prompt === null ? 2 : 5 + Math.ceil(prompt.url.length / width) + (prompt.user_code === null ? 0 : 2);
  // A cut QR code cannot be read, and ASCII cannot draw one.
  const showsQr = !ended && qr.length > 0 && above + qr.length <= height && glyphs.ellipsis === '…';
  return (
    <Frame path={['sign in']}>
      <Box flexDirection="column" paddingTop={1} paddingLeft={2}>
        <Line spans={[{ text: `${glyphs[state.glyph]} ${state.text}`, tone: state.tone }]} width={width} />
        <Line spans={[]} width={width} />
        {ended || prompt === null ? null : <Prompt prompt={prompt} width={width} />}
        {showsQr ? <Text>{qr.join('\n')}</Text> : null}
        {result === null ? null : <Facts facts={signedInFacts(result)} width={width} />}
        {error === null ? null : <Facts facts={signInFailure(error)} width={width} />}
      </Box>
    </Frame>
  );
}

function Prompt({ prompt, width }: { prompt: NonNullable<SignInRoute['prompt']>; width: number }) {
  return (
    <Box flexDirection="column" width={width}>
      <Line spans={[{ text: signInLead(prompt), tone: 'dim' }]} width={width} />
      <Text wrap="hard">{printable(prompt.url, '')}</Text>
      <Line spans={[]} width={width} />
      {prompt.user_code === null ? null : (
        <Line
          spans={[
            { text: 'Code: ', tone: 'dim' },
            { text: prompt.user_code, tone: 'strong' },
          ]}
          width={width}
        />
      )}
    </Box>
  );
}
