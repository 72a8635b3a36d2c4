import { activityScreen } from '../activity/activity-screen.tsx';
import { branchNameScreen } from '../branch-name/branch-name-screen.tsx';
import { branchesScreen } from '../branches/branches-screen.tsx';
import { changesScreen } from '../changes/changes-screen.tsx';
import { checkScreen } from '../check/check-screen.tsx';
import { choiceScreen } from '../choice/choice-screen.tsx';
import { confirmScreen } from '../confirm/confirm-screen.tsx';
import { coverageScreen } from '../coverage/coverage-screen.tsx';
import { diffScreen } from '../diff/diff-screen.tsx';
import { editorScreen } from '../editor/editor-screen.tsx';
import { editorDiffScreen } from '../editor-diff/editor-diff-screen.tsx';
import { editorProblemsScreen } from '../editor-problems/editor-problems-screen.tsx';
import { fieldScreen } from '../field/field-screen.tsx';
import { fixScreen } from '../fix/fix-screen.tsx';
import { helpScreen } from '../help/help-screen.tsx';
import { ledgerScreen } from '../ledger/ledger-screen.tsx';
import { paletteScreen } from '../palette/palette-screen.tsx';
import { pointsScreen } from '../points/points-screen.tsx';
import { quitScreen } from '../quit/quit-screen.tsx';
import { rehearsalScreen } from '../rehearsal/rehearsal-screen.tsx';
import { rowsScreen } from '../rows/rows-screen.tsx';
import { runScreen } from '../run/run-screen.tsx';
import { saveQueryScreen } from '../save-query/save-query-screen.tsx';
import { serversScreen } from '../servers/servers-screen.tsx';
import { setupScreen } from '../setup/setup-screen.tsx';
import { signInScreen } from '../sign-in/sign-in-screen.tsx';
import { snapshotsScreen } from '../snapshots/snapshots-screen.tsx';
import { subsetScreen } from '../subset/subset-screen.tsx';
import { subsetGraphScreen } from '../subset-graph/subset-graph-screen.tsx';
import { suggestionScreen } from '../suggestion/suggestion-screen.tsx';
import { tableDiffScreen } from '../table-diff/table-diff-screen.tsx';
import { tablesScreen } from '../tables/tables-screen.tsx';
import { targetsScreen } from '../targets/targets-screen.tsx';
import { trustScreen } from '../trust/trust-screen.tsx';
import type { ScreenModule } from './model.ts';

/** Every screen, in the order of docs/screens.md. */
export const SCREENS = {
  targets: targetsScreen,
  snapshots: snapshotsScreen,
  confirm: confirmScreen,
  run: runScreen,
  coverage: coverageScreen,
  suggestion: suggestionScreen,
  ledger: ledgerScreen,
  'save-query': saveQueryScreen,
  activity: activityScreen,
  tables: tablesScreen,
  rows: rowsScreen,
  branches: branchesScreen,
  'branch-name': branchNameScreen,
  servers: serversScreen,
  rehearsal: rehearsalScreen,
  points: pointsScreen,
  changes: changesScreen,
  diff: diffScreen,
  'table-diff': tableDiffScreen,
  check: checkScreen,
  fix: fixScreen,
  setup: setupScreen,
  editor: editorScreen,
  'editor-diff': editorDiffScreen,
  'editor-problems': editorProblemsScreen,
  choice: choiceScreen,
  field: fieldScreen,
  'sign-in': signInScreen,
  subset: subsetScreen,
  'subset-graph': subsetGraphScreen,
  palette: paletteScreen,
  trust: trustScreen,
  quit: quitScreen,
  help: helpScreen,
};

declare module './route.ts' {
  interface Routes extends RoutesOf<typeof SCREENS> {}
}

type RoutesOf<Screens> = {
  [Id in keyof Screens]: Screens[Id] extends ScreenModule<infer Own> ? Own : never;
};
