import { useApp, useInput, usePaste, useWindowSize } from 'ink';
import { useEffect } from 'react';
import { useStore } from 'zustand';
import { ViewportContext } from '../../components/list.tsx';
import { type Theme, ThemeContext } from '../../components/theme.ts';
import { isTooSmall, TooSmall } from '../../components/too-small.tsx';
import { topOf } from '../../src/state/navigation.ts';
import { CancelScreen } from '../cancel/cancel-screen.tsx';
import { ChoiceScreen } from '../choice/choice-screen.tsx';
import { ConfirmScreen } from '../confirm/confirm-screen.tsx';
import { CoverageScreen } from '../coverage/coverage-screen.tsx';
import { DiffScreen } from '../diff/diff-screen.tsx';
import { DoctorScreen } from '../doctor/doctor-screen.tsx';
import { EditorScreen } from '../editor/editor-screen.tsx';
import { EditorDiffScreen } from '../editor-diff/editor-diff-screen.tsx';
import { EditorProblemsScreen } from '../editor-problems/editor-problems-screen.tsx';
import { ExportScreen } from '../export/export-screen.tsx';
import { FixScreen } from '../fix/fix-screen.tsx';
import { HelpScreen } from '../help/help-screen.tsx';
import { MessagesScreen } from '../messages/messages-screen.tsx';
import { NoteScreen } from '../note/note-screen.tsx';
import { PaletteScreen } from '../palette/palette-screen.tsx';
import { QuitScreen } from '../quit/quit-screen.tsx';
import { RunScreen } from '../run/run-screen.tsx';
import { SetupScreen } from '../setup/setup-screen.tsx';
import { SignInScreen } from '../sign-in/sign-in-screen.tsx';
import { SnapshotsScreen } from '../snapshots/snapshots-screen.tsx';
import { SubsetScreen } from '../subset/subset-screen.tsx';
import { TablesScreen } from '../tables/tables-screen.tsx';
import { TargetsScreen } from '../targets/targets-screen.tsx';
import { TasksScreen } from '../tasks/tasks-screen.tsx';
import { TrustScreen } from '../trust/trust-screen.tsx';
import { dispatchKey, dispatchPaste } from './dispatch.ts';
import { ModelContext } from './frame.tsx';
import type { Model } from './model.ts';
import type { Place } from './place.ts';
import { keyPresses } from './terminal/key-press.ts';

export interface AppProps {
  model: Model;
  theme: Theme;
  /** Hands the terminal back to the shell; resolves when the program goes on. */
  suspend: () => Promise<void>;
  /** Takes what gives the terminal to another program until its work is done. */
  bindHandOver: (suspendTerminal: (work: () => Promise<void>) => Promise<void>) => void;
}

/** The screen of the present place, and the keys that go to it. */
export function App({ model, theme, suspend, bindHandOver }: AppProps) {
  const { suspendTerminal } = useApp();
  useEffect(() => bindHandOver(suspendTerminal), [bindHandOver, suspendTerminal]);
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
        <ViewportContext value={model.viewport}>
          <PlaceView place={place} />
        </ViewportContext>
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
    case 'coverage':
      return <CoverageScreen place={place} />;
    case 'subset':
      return <SubsetScreen place={place} />;
    case 'tasks':
      return <TasksScreen place={place} />;
    case 'messages':
      return <MessagesScreen place={place} />;
    case 'tables':
      return <TablesScreen place={place} />;
    case 'diff':
      return <DiffScreen place={place} />;
    case 'doctor':
      return <DoctorScreen place={place} />;
    case 'fix':
      return <FixScreen place={place} />;
    case 'setup':
      return <SetupScreen place={place} />;
    case 'editor':
      return <EditorScreen place={place} />;
    case 'editor-diff':
      return <EditorDiffScreen place={place} />;
    case 'editor-problems':
      return <EditorProblemsScreen place={place} />;
    case 'choice':
      return <ChoiceScreen place={place} />;
    case 'export':
      return <ExportScreen place={place} />;
    case 'palette':
      return <PaletteScreen place={place} />;
    case 'sign-in':
      return <SignInScreen place={place} />;
    case 'trust':
      return <TrustScreen place={place} />;
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
