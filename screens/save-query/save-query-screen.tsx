import { useMemo } from 'react';
import { Empty, Failure } from '../../components/empty.tsx';
import type { Span } from '../../components/line.tsx';
import { type DiffLine, diffLines } from '../../src/config/edit/diff-lines.ts';
import { querySave } from '../../src/operations/sanitize/query-save.ts';
import type { PlannedQuerySave } from '../../src/operations/sanitize/save-query.ts';
import { querySavedText, querySaveLines } from '../../src/operations/sanitize/suggestion-text.ts';
import type { ListState } from '../../src/state/list.ts';
import { wrap } from '../../src/text/text-width.ts';
import { DiffView } from '../app/frame/diff-view.tsx';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { BACK, HELP, MOVES } from '../app/keys.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { rowsByIndex } from '../app/lists/in-view.ts';
import { refreshTargetsAnew } from '../app/lists/refresh.ts';
import { type Model, orNotify, quietly, type ScreenModule } from '../app/model.ts';
import type { ShownPlan } from '../app/operations.ts';
import { LOADING } from '../app/text.ts';

interface SaveQueryRoute extends FetchState<ShownPlan<PlannedQuerySave>> {
  screen: 'save-query';
  target: string;
  suggestion: AbortController;
  list: ListState;
}

export const saveQueryScreen: ScreenModule<SaveQueryRoute> = {
  title: 'Changes of the sanitization query',
  view: SaveQueryView,
  keys: [
    {
      keys: ['enter'],
      label: 'save',
      help: 'write the file',
      whyNot: ({ route }) => (route.found && !route.error ? null : 'The plan is not ready yet'),
      run: (model, route) => void orNotify(model, () => save(model, route)),
      stays: true,
    },
    { ...BACK, label: 'cancel', help: 'back; nothing is written' },
    HELP,
    ...MOVES,
  ],
  rows: (_, route) => rowsByIndex(linesOf(route)),
};

async function save(model: Model, { found, suggestion, controller }: SaveQueryRoute): Promise<void> {
  const { navigation, operations } = model;
  if (!found) return;
  const { file } = await operations.apply(quietly(controller.signal), querySave, found.sealed);
  navigation.pop();
  const top = navigation.top();
  if (top.screen === 'suggestion' && top.controller === suggestion) {
    suggestion.abort();
    navigation.pop();
  }
  navigation.notify({ tone: 'good', text: querySavedText(file) });
  await refreshTargetsAnew(model);
}

function linesOf({ found }: SaveQueryRoute): DiffLine[] {
  return found ? diffLines(found.shown.before, found.shown.after) : [];
}

function SaveQueryView({ route }: { route: SaveQueryRoute }) {
  const { columns, height } = useRoom();
  const { target, found, error, list } = route;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the lines are made of
  const lines = useMemo(() => linesOf(route), [found]);
  const told = found ? querySaveLines(found.shown).flatMap((line) => wrap(line, columns - 4)) : [];
  const above = told.slice(0, Math.max(1, height - LEAST_LINES));
  const blank: Span[][] = height - above.length > LEAST_LINES + 2 ? [[]] : [];
  const lead = above.map((text): Span[] => [{ text: `  ${text}`, tone: 'strong' }]);
  return (
    <Frame path={[target, 'suggestion', 'save']}>
      {error && <Failure error={error} width={columns} />}
      {!found && !error && <Empty lines={LOADING.plan} />}
      {found && <DiffView change={found.shown} above={[...blank, ...lead, ...blank]} lines={lines} list={list} />}
    </Frame>
  );
}

/** Lines of the difference in the lowest window. */
const LEAST_LINES = 2;
