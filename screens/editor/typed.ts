import { type TextEdit, textEdit } from '../../components/text-edit.ts';
import type { Change, PlainValue } from '../../src/config/edit/change.ts';
import type { Shape } from '../../src/config/schema/shape.ts';
import { type KeyPath, valueAt } from '../../src/config/tree.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import type { Model } from '../app/model.ts';
import { changing, inTurn } from './change-draft.ts';
import type { EditorRoute } from './editor-route.ts';
import { type Field, textToType } from './fields.ts';
import { fetchNames, suggestionsAt } from './names.ts';
import { editorWith, panesOf, renamedAt, updateEditor } from './selection.ts';
import { EDITOR_NOTICES, nameTakenText } from './text.ts';
import { problemsBelow } from './tree-rows.ts';

export function startTyping(model: Model, route: EditorRoute, text: string): void {
  const typing = { ...route, typing: textEdit(text), wrong: null, refused: null, suggestion: null };
  model.navigation.replace(typing);
  fetchNames(model, typing);
}

export function changeTyped(model: Model, route: EditorRoute, typing: TextEdit): void {
  const changed = { ...route, typing, suggestion: null };
  model.navigation.replace(changed);
  checkTyped(model, changed);
}

/** Checks the typed text and shows its problem. */
function checkTyped(model: Model, route: EditorRoute): void {
  if (!route.typing || !route.draft) return;
  const { draft, typing, queue } = route;
  const outcome = changeOf(route);
  const show = ({ wrong, isRefused }: Verdict) =>
    updateEditor(model, queue, (now) =>
      now.typing === typing ? { ...now, wrong, refused: isRefused ? typing : null } : now,
    );
  if (typeof outcome === 'string' || outcome === null) show({ wrong: outcome, isRefused: outcome !== null });
  else
    setImmediate(() => {
      // Of text that arrives at once only the last is checked.
      if (editorWith(model, queue)?.typing === typing) void verdictOn(model, draft, outcome).then(show);
    });
}

interface Verdict {
  wrong: string | null;
  /** The problem is one of the text itself: others can be fixed in any order. */
  isRefused: boolean;
}

/** Checks a change as typed, before a secret in it is encrypted. */
async function verdictOn({ operations }: Model, draft: ConfigurationDraft, change: Change): Promise<Verdict> {
  try {
    const { problems, written } = await operations.changeDraft(draft, [...draft.changes, change]);
    const found = problemsBelow(problems, typedPath(change, written));
    const named = change.kind === 'name' || change.kind === 'rename';
    const refused = found.find(({ code }) => (named ? OF_NAMES : OF_VALUES).has(code));
    // A new name still lacks its required keys: only problems of the name count.
    const problem = refused ?? (named ? undefined : found[0]);
    return { wrong: problem?.message ?? null, isRefused: refused !== undefined };
  } catch (thrown) {
    return { wrong: toUserError(thrown).message, isRefused: true };
  }
}

function typedPath(change: Change, written: ConfigurationDraft['written']): KeyPath {
  const { kind, path } = change;
  if (kind === 'rename') return [...path.slice(0, -1), change.name];
  if (kind !== 'append') return path;
  const items = valueAt(written, path);
  const item = [...path, Array.isArray(items) ? items.length - 1 : 0];
  return typeof change.value === 'object' ? [...item, ...Object.keys(change.value)] : item;
}

const OF_NAMES = new Set(['invalid_name', 'unknown_key']);

const OF_VALUES = new Set(['wrong_value', 'wrong_type', 'yaml_syntax']);

/**
 * Enter: makes the change unless the text itself is invalid; problems with other keys can be fixed in any order.
 * The next key need not wait for the check: refused text returns to its field.
 */
export function acceptField(model: Model, route: EditorRoute): void {
  const { names = [], selected = -1 } = suggestionsAt(route) ?? {};
  const chosen = names[selected];
  const outcome = changeOf(chosen ? { ...route, typing: textEdit(chosen.name) } : route);
  if (typeof outcome === 'string') {
    model.navigation.replace({ ...route, wrong: outcome });
    return;
  }
  if (!chosen && route.typing === route.refused) return;
  stopTyping(model, route);
  if (!outcome) return;
  const typing = chosen ? textEdit(chosen.name) : route.typing;
  const { work, show } = changing(model, outcome);
  const checked = async (draft: ConfigurationDraft): Promise<ConfigurationDraft | null> => {
    const { wrong, isRefused } = await verdictOn(model, draft, outcome);
    if (!isRefused) return work(draft);
    const { pane, list, fields, task } = route;
    if (editorWith(model, route.queue)?.typing) model.navigation.notify({ tone: 'bad', text: wrong ?? '' });
    else {
      updateEditor(model, route.queue, (now) => ({ ...now, pane, list, fields, task, typing, wrong, refused: typing }));
    }
    return null;
  };
  inTurn(model, route.queue, { work: checked, show });
}

export function stopTyping(model: Model, route: EditorRoute): void {
  model.navigation.replace({ ...route, ...NOT_TYPING });
}

const NOT_TYPING = { task: 'value', typing: null, wrong: null, refused: null, suggestion: null } as const;

/** The change of the typed text; `null` without a change; a text says why it is refused. */
function changeOf(route: EditorRoute): Change | string | null {
  const { draft, task, typing } = route;
  const panes = panesOf(route);
  if (!draft || !panes || !typing) return null;
  const { row, field } = panes;
  const text = typing.text.trim();
  switch (task) {
    case 'value':
      return field && valueChange(field, text);
    case 'add':
      return added(draft, { path: row.path, shape: row.shape, text });
    case 'rename': {
      const { path } = renamedAt(route);
      if (text === path.at(-1)) return null;
      return nameTaken(draft, [...path.slice(0, -1), text]) ?? { kind: 'rename', path, name: text };
    }
    default:
      return task satisfies never;
  }
}

function valueChange(field: Field, text: string): Change | null {
  const { path, value, shape } = field;
  if (text === textToType(field)) return null;
  if (text === '') return value === undefined ? null : { kind: 'remove', path };
  return { kind: 'set', path, value: asTyped(shape, text) };
}

/** Text that is no number stays text: the check reports it. */
function asTyped(shape: Shape, text: string): PlainValue {
  if (shape.kind !== 'value' || shape.type === 'text') return text;
  if (shape.type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

function added(
  draft: ConfigurationDraft,
  { path, shape, text }: { path: KeyPath; shape: Shape; text: string },
): Change | string | null {
  if (text === '') return shape.kind === 'map' ? EDITOR_NOTICES.nameRequired : null;
  if (shape.kind === 'map') return nameTaken(draft, [...path, text]) ?? { kind: 'name', path: [...path, text] };
  if (shape.kind !== 'list') return null;
  // A new map in a list starts with its first required key.
  const value = shape.of.kind === 'object' ? { [firstKey(shape.of)]: text } : asTyped(shape.of, text);
  return { kind: 'append', path, value };
}

export function firstKey(shape: Extract<Shape, { kind: 'object' }>): string {
  const keys = [...shape.keys];
  return (keys.find(([, { required }]) => required) ?? keys[0])?.[0] ?? '';
}

function nameTaken({ written }: ConfigurationDraft, path: KeyPath): string | null {
  if (path.at(-1) === '') return EDITOR_NOTICES.nameRequired;
  return valueAt(written, path) === undefined ? null : nameTakenText(String(path.at(-1)));
}
