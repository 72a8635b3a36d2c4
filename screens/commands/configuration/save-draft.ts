import type { ConfigurationDraft } from '../../../src/operations/configuration/edit-configuration.ts';
import { toUserError } from '../../../src/runtime/errors.ts';
import { emptyList } from '../../../src/state/list.ts';
import { refreshTargetsAnew } from '../../app/lists/refresh.ts';
import { type Model, notifyFailure } from '../../app/model.ts';
import { inTurn } from '../../editor/change-draft.ts';
import type { EditorRoute } from '../../editor/editor-route.ts';
import { editorWith, updateEditor } from '../../editor/selection.ts';
import { conflictQuestion, EDITOR_NOTICES, savedText } from '../../editor/text.ts';

/** Shows what saving would change. */
export function showDraftDiff(model: Model, route: EditorRoute): void {
  // Includes the changes still in the queue.
  route.queue.last = route.queue.last.then(async () => {
    const now = model.navigation.top();
    if (now.screen !== 'editor' || !now.draft || now.typing) return;
    const { draft } = now;
    const lines = await model.operations.diffDraft(draft);
    const top = model.navigation.top();
    if (top.screen !== 'editor' || top.draft !== draft) return;
    if (lines.length > 0) {
      const saveShown = (): void => save(model, { queue: route.queue, draft });
      model.navigation.push({ screen: 'editor-diff', draft, lines, list: emptyList, save: saveShown });
    } else model.navigation.notify({ tone: 'plain', text: EDITOR_NOTICES.unchanged });
  });
}

/** Writes the file without showing the changes, and leaves the editor. */
export function saveAndLeave(model: Model, { queue }: EditorRoute): void {
  queue.last = queue.last.then(() => {
    const route = editorWith(model, queue);
    if (route?.draft && !route.typing) save(model, { queue, draft: route.draft }, { leave: true });
  });
}

interface SaveRequest {
  queue: EditorRoute['queue'];
  draft: ConfigurationDraft;
}

function save(model: Model, { queue, draft }: SaveRequest, { leave = false } = {}): void {
  model.operations.saveDraft(draft).then(
    (saved) => {
      updateEditor(model, queue, (now) => ({ ...now, draft: saved }));
      const top = model.navigation.top();
      if (leave && top.screen === 'editor' && top.queue === queue) model.navigation.pop();
      model.navigation.notify({ tone: 'good', text: savedText(saved.file) });
      void refreshTargetsAnew(model);
    },
    (thrown: unknown) => {
      if (toUserError(thrown).code === 'configuration_changed') chooseAfterConflict(model, { queue, file: draft.file });
      else notifyFailure(model, thrown);
    },
  );
}

function chooseAfterConflict(model: Model, { queue, file }: { queue: EditorRoute['queue']; file: string }): void {
  const answers: Record<string, () => void> = {
    redo: () => inTurn(model, queue, { work: (draft) => model.operations.redoDraft(draft) }),
    reload: () => inTurn(model, queue, { work: () => model.operations.openDraft() }),
  };
  model.navigation.push({
    screen: 'choice',
    ...conflictQuestion(file),
    answer: (answer) => answers[answer]?.(),
  });
}
