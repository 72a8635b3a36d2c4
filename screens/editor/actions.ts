import { emptyList } from '../../src/state/list.ts';
import { type Model, orNotify, quietly } from '../app/model.ts';
import { editConfiguration } from '../commands/configuration/edit-configuration.ts';
import { saveAndLeave } from '../commands/configuration/save-draft.ts';
import { changeDraft } from './change-draft.ts';
import type { EditorRoute } from './editor-route.ts';
import { type Field, textToType } from './fields.ts';
import { panesOf, renamedAt } from './selection.ts';
import { EDITOR_NOTICES, UNSAVED } from './text.ts';
import { startTyping } from './typed.ts';

export function readAgain(model: Model): void {
  model.navigation.pop();
  editConfiguration(model);
}

/** The user's own editor at the first problem of a file that is not YAML; afterwards the file is read again. */
export async function openOutside(model: Model, { queue }: EditorRoute): Promise<void> {
  await orNotify(model, async () => {
    const { report } = await model.operations.checkWithFixes(quietly(new AbortController().signal));
    const [first] = report.problems.filter(({ severity, file }) => severity === 'error' && file !== null);
    const file = first?.file ?? report.file;
    if (file === null) return;
    await model.terminal.edit(file, first?.line ?? 1);
    const top = model.navigation.top();
    if (top.screen === 'editor' && top.queue === queue) readAgain(model);
  });
}

export function otherPane(model: Model, route: EditorRoute): void {
  const canType = (panesOf(route)?.fields.length ?? 0) > 0;
  if (route.pane === 'tree' && !canType) {
    model.navigation.notify({ tone: 'caution', text: EDITOR_NOTICES.noFields });
  } else model.navigation.replace({ ...route, pane: route.pane === 'tree' ? 'form' : 'tree' });
}

export function openInEditor(model: Model, route: EditorRoute): void {
  const panes = panesOf(route);
  if (!panes) return;
  const { row, field } = panes;
  if (route.pane === 'form' && field) editField(model, route, field);
  else if (row.folded) foldEntry(model, route);
  else if (isGrowing(route)) addEntry(model, route);
  else otherPane(model, route);
}

/** A map or a list without items: Enter adds to it. */
function isGrowing(route: EditorRoute): boolean {
  const { row, fields } = panesOf(route) ?? {};
  return row !== undefined && row.shape.kind !== 'object' && fields?.length === 0;
}

const NOT_SET = '';

function editField(model: Model, route: EditorRoute, field: Field): void {
  const { path, label, shape, choices, value } = field;
  if (!field.isKnown) {
    renameEntry(model, route);
    return;
  }
  if (choices === null) {
    startTyping(model, { ...route, task: 'value' }, textToType(field));
    return;
  }
  const present = value === undefined ? NOT_SET : String(value);
  const unset = shape.default === undefined ? 'not set' : `not set: ${String(shape.default)}`;
  const options = [...choices.map((choice) => ({ label: choice, value: choice })), { label: unset, value: NOT_SET }];
  const isKnown = options.some((option) => option.value === present);
  model.navigation.push({
    screen: 'choice',
    path: ['configuration', label],
    question: label,
    lines: [shape.description, ...(choices.length === 0 ? [EDITOR_NOTICES.storageProfileRequired] : [])],
    // The present value has the focus.
    options: isKnown
      ? options.toSorted((a, b) => Number(b.value === present) - Number(a.value === present))
      : [{ label: `${present}: leave it`, value: present }, ...options],
    answer: (answer) => {
      if (answer === present) return;
      const chosen = shape.type === 'boolean' ? answer === 'true' : answer;
      changeDraft(model, route, answer === NOT_SET ? { kind: 'remove', path } : { kind: 'set', path, value: chosen });
    },
  });
}

export function foldEntry(model: Model, route: EditorRoute): void {
  const row = panesOf(route)?.row;
  if (!row || row.folded === null) return;
  const others = route.unfolded.filter((id) => id !== row.id);
  model.navigation.replace({ ...route, unfolded: row.folded ? [...others, row.id] : others });
}

/** Adds to the selected map or list, or to the one that contains the selected entry. */
export function addEntry(model: Model, route: EditorRoute): void {
  const panes = panesOf(route);
  const growing = [...(panes?.rows ?? [])]
    .filter(({ path, shape }) => shape.kind !== 'object' && path.every((part, at) => part === panes?.row.path[at]))
    .at(-1);
  if (growing)
    startTyping(model, { ...route, list: { ...route.list, selected: growing.id }, pane: 'form', task: 'add' }, '');
  else model.navigation.notify({ tone: 'caution', text: EDITOR_NOTICES.fixedKeys });
}

export function renameEntry(model: Model, route: EditorRoute): void {
  const { path, canChange } = renamedAt(route);
  if (canChange) startTyping(model, { ...route, pane: 'form', task: 'rename' }, String(path.at(-1)));
  else model.navigation.notify({ tone: 'caution', text: EDITOR_NOTICES.fixedName });
}

/** Removes the selected value, entry or section. */
export function removeEntry(model: Model, route: EditorRoute): void {
  const panes = panesOf(route);
  const { row, field } = panes ?? {};
  const path = route.pane === 'form' ? (field?.value === undefined ? null : field.path) : row?.isSet ? row.path : null;
  if (path && path.length > 0) {
    changeDraft(model, route, { kind: 'remove', path });
    model.navigation.notify({ tone: 'plain', text: EDITOR_NOTICES.removed });
  } else model.navigation.notify({ tone: 'caution', text: EDITOR_NOTICES.notInFile });
}

export function showProblems(model: Model, { draft }: EditorRoute): void {
  if (draft) model.navigation.push({ screen: 'editor-problems', draft, list: emptyList });
}

/** Esc: leaves the form, then the editor; asks when changes would be lost. */
export function leaveEditor(model: Model, route: EditorRoute): void {
  if (route.pane === 'form') {
    model.navigation.replace({ ...route, pane: 'tree' });
    return;
  }
  const { draft } = route;
  if (!draft || draft.text === draft.base) {
    model.navigation.pop();
    return;
  }
  model.navigation.push({
    screen: 'choice',
    path: ['configuration', 'leave'],
    lines: [draft.file],
    ...UNSAVED,
    answer: (answer) => {
      if (answer === 'leave') model.navigation.pop();
      else if (answer === 'save') saveAndLeave(model, route);
    },
  });
}
