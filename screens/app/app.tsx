import { useApp, useInput, usePaste, useWindowSize } from 'ink';
import { useEffect } from 'react';
import { useStore } from 'zustand';
import { ViewportContext } from '../../components/list.tsx';
import { type Theme, ThemeContext } from '../../components/theme.ts';
import { isTooSmall, TooSmall } from '../../components/too-small.tsx';
import { topOf } from '../../src/state/navigation.ts';
import { CancelView } from '../cancel/cancel-screen.tsx';
import { ChoiceView } from '../choice/choice-screen.tsx';
import { ConfirmView } from '../confirm/confirm-screen.tsx';
import { CoverageView } from '../coverage/coverage-screen.tsx';
import { DiffView } from '../diff/diff-screen.tsx';
import { DoctorView } from '../doctor/doctor-screen.tsx';
import { EditorView } from '../editor/editor-screen.tsx';
import { EditorDiffView } from '../editor-diff/editor-diff-screen.tsx';
import { EditorProblemsView } from '../editor-problems/editor-problems-screen.tsx';
import { ExportView } from '../export/export-screen.tsx';
import { FixView } from '../fix/fix-screen.tsx';
import { HelpView } from '../help/help-screen.tsx';
import { MessagesView } from '../messages/messages-screen.tsx';
import { NoteView } from '../note/note-screen.tsx';
import { PaletteView } from '../palette/palette-screen.tsx';
import { QuitView } from '../quit/quit-screen.tsx';
import { RunView } from '../run/run-screen.tsx';
import { SetupView } from '../setup/setup-screen.tsx';
import { SignInView } from '../sign-in/sign-in-screen.tsx';
import { SnapshotsView } from '../snapshots/snapshots-screen.tsx';
import { SubsetView } from '../subset/subset-screen.tsx';
import { TablesView } from '../tables/tables-screen.tsx';
import { TargetsView } from '../targets/targets-screen.tsx';
import { TasksView } from '../tasks/tasks-screen.tsx';
import { TrustView } from '../trust/trust-screen.tsx';
import { dispatchKey, dispatchPaste } from './dispatch.ts';
import { ModelContext } from './frame.tsx';
import type { Model } from './model.ts';
import type { Route } from './route.ts';
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
  const route = useStore(model.navigation.store, topOf);
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
          <PlaceView route={route} />
        </ViewportContext>
      </ModelContext>
    </ThemeContext>
  );
}

function PlaceView({ route }: { route: Route }) {
  switch (route.screen) {
    case 'targets':
      return <TargetsView route={route} />;
    case 'snapshots':
      return <SnapshotsView route={route} />;
    case 'confirm':
      return <ConfirmView route={route} />;
    case 'note':
      return <NoteView route={route} />;
    case 'run':
      return <RunView route={route} />;
    case 'coverage':
      return <CoverageView route={route} />;
    case 'subset':
      return <SubsetView route={route} />;
    case 'tasks':
      return <TasksView route={route} />;
    case 'messages':
      return <MessagesView route={route} />;
    case 'tables':
      return <TablesView route={route} />;
    case 'diff':
      return <DiffView route={route} />;
    case 'doctor':
      return <DoctorView route={route} />;
    case 'fix':
      return <FixView route={route} />;
    case 'setup':
      return <SetupView route={route} />;
    case 'editor':
      return <EditorView route={route} />;
    case 'editor-diff':
      return <EditorDiffView route={route} />;
    case 'editor-problems':
      return <EditorProblemsView route={route} />;
    case 'choice':
      return <ChoiceView route={route} />;
    case 'export':
      return <ExportView route={route} />;
    case 'palette':
      return <PaletteView route={route} />;
    case 'sign-in':
      return <SignInView route={route} />;
    case 'trust':
      return <TrustView route={route} />;
    case 'cancel':
      return <CancelView route={route} />;
    case 'quit':
      return <QuitView />;
    case 'help':
      return <HelpView route={route} />;
    default:
      return route satisfies never;
  }
}
