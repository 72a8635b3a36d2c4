import { useApp, useInput, usePaste, useWindowSize } from 'ink';
import { useStore } from 'zustand';
import { type Theme, ThemeContext } from '../components/theme.ts';
import { isTooSmall, TooSmall } from '../components/too-small.tsx';
import { topOf } from '../src/state/navigation.ts';
import { ConfirmScreen } from './confirm/confirm-screen.tsx';
import { dispatchKey, dispatchPaste } from './dispatch.ts';
import { ModelContext } from './frame.tsx';
import { HelpScreen } from './help/help-screen.tsx';
import { keyPresses } from './key-press.ts';
import type { Model } from './model.ts';
import { NoteScreen } from './note/note-screen.tsx';
import type { Place } from './place.ts';
import { QuitScreen } from './quit/quit-screen.tsx';
import { CancelScreen } from './run/cancel-screen.tsx';
import { RunScreen } from './run/run-screen.tsx';
import { SignInScreen } from './sign-in/sign-in-screen.tsx';
import { SnapshotsScreen } from './snapshots/snapshots-screen.tsx';
import { TargetsScreen } from './targets/targets-screen.tsx';
import { TasksScreen } from './tasks/tasks-screen.tsx';

export interface AppProps {
  model: Model;
  theme: Theme;
  /** Hands the terminal back to the shell; resolves when the program goes on. */
  suspend: () => Promise<void>;
}

/** The screen of the present place, and the keys that go to it. */
export function App({ model, theme, suspend }: AppProps) {
  const { suspendTerminal } = useApp();
  const place = useStore(model.navigation.store, topOf);
  const size = useWindowSize();
  const tooSmall = isTooSmall(size);
  useInput((input, key) => {
    for (const press of keyPresses(input, key)) {
      if (press === 'ctrl+z') void suspendTerminal(suspend);
      // What cannot be seen is not acted on.
      else if (!tooSmall || press === 'ctrl+c') dispatchKey(model, press);
    }
  });
  usePaste((text) => dispatchPaste(model, text));
  if (tooSmall) return <TooSmall {...size} />;
  return (
    <ThemeContext value={theme}>
      <ModelContext value={model}>
        <PlaceView place={place} />
      </ModelContext>
    </ThemeContext>
  );
}

function PlaceView({ place }: { place: Place }) {
  switch (place.screen) {
    case 'targets':
      return <TargetsScreen place={place} />;
    case 'snapshots':
      return <SnapshotsScreen place={place} />;
    case 'confirm':
      return <ConfirmScreen place={place} />;
    case 'note':
      return <NoteScreen place={place} />;
    case 'run':
      return <RunScreen place={place} />;
    case 'tasks':
      return <TasksScreen place={place} />;
    case 'sign-in':
      return <SignInScreen place={place} />;
    case 'cancel':
      return <CancelScreen place={place} />;
    case 'quit':
      return <QuitScreen />;
    case 'help':
      return <HelpScreen place={place} />;
    default:
      return place satisfies never;
  }
}
