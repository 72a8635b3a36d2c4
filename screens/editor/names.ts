import { textEdit } from '../../components/text-edit.ts';
import { type KeyPath, valueAt } from '../../src/config/tree.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { NameWithSize } from '../../src/results/results.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { emptyList, type Move, moveSelection } from '../../src/state/list.ts';
import { type Model, quietly } from '../app/model.ts';
import type { EditorRoute, KnownNames, NameKind } from './editor-route.ts';
import { textToType } from './fields.ts';
import { panesOf, updateEditor } from './selection.ts';

/** Existing names that match the typed text. */
export interface Suggestions {
  names: NameWithSize[];
  /** Index of the selected name; -1 while Enter takes the typed text. */
  selected: number;
  state: KnownNames;
}

interface NameRequest {
  kind: NameKind;
  /** Path of the database URL in the configuration. */
  source: KeyPath | null;
  /** Cache key. */
  id: string;
}

const MOST_SHOWN = 200;

/** The suggestions for the typed text; `null` where any text is valid. */
export function suggestionsAt(route: EditorRoute): Suggestions | null {
  const wanted = wantedAt(route);
  const state = wanted && route.names[wanted.id];
  if (!wanted || !state || !route.typing) return null;
  const all = state.state === 'known' ? (state.names[wanted.kind] ?? []) : [];
  const taken = takenAt(route);
  const names = matching(
    all.filter(({ name }) => !taken.includes(name)),
    isUntouched(route) ? '' : route.typing.text.trim(),
  );
  return { names, selected: names.findIndex(({ name }) => name === route.suggestion), state };
}

/** Fetches the names once, and shows them when they are there. */
export function fetchNames(model: Model, route: EditorRoute): void {
  const wanted = wantedAt(route);
  if (!wanted || !route.draft || route.names[wanted.id]) return;
  const { draft, queue } = route;
  const update = (known: KnownNames) =>
    updateEditor(model, queue, (now) => ({ ...now, names: { ...now.names, [wanted.id]: known } }));
  update({ state: 'asked' });
  findNames(model, wanted, draft).then(
    (names) => update({ state: 'known', names }),
    (thrown: unknown) => update({ state: 'failed', why: toUserError(thrown).message }),
  );
}

async function findNames({ operations }: Model, { source }: NameRequest, draft: ConfigurationDraft) {
  if (source) return operations.listSourceNames(quietly(new AbortController().signal), { draft, source });
  const profiles = await operations.listCliProfiles();
  return { cli_profile: profiles.map((name) => ({ name, size_bytes: null })) };
}

/** Moves among the suggestions; above the first one is the typed text. */
export function moveSuggestion(model: Model, route: EditorRoute, move: Move): void {
  const suggestions = suggestionsAt(route);
  if (!suggestions) return;
  const { names, selected } = suggestions;
  const ids = names.map(({ name }) => name);
  const isFirst = selected <= 0 && move === 'up';
  const list = { ...emptyList, selected: route.suggestion };
  const next = selected === -1 ? ids[0] : moveSelection(list, { ids, index: selected, move, page: 1 }).selected;
  model.navigation.replace({ ...route, suggestion: isFirst ? null : (next ?? null) });
}

/** Tab: types the selected or best suggestion. */
export function completeName(model: Model, route: EditorRoute): void {
  const { names = [], selected = -1 } = suggestionsAt(route) ?? {};
  const name = names[Math.max(0, selected)]?.name;
  if (name !== undefined) model.navigation.replace({ ...route, typing: textEdit(name), suggestion: null });
}

function wantedAt(route: EditorRoute): NameRequest | null {
  const panes = panesOf(route);
  if (!route.draft || !panes || route.task === 'rename') return null;
  const { row, field } = panes;
  const of = row.shape.kind === 'list' ? row.shape.of : null;
  const added = of?.kind === 'object' ? [...of.keys.values()].find(({ required }) => required) : of;
  const shape = route.task === 'value' ? field?.shape : added;
  const kind = shape?.traits.names;
  if (kind === 'cli_profile') return { kind, source: null, id: kind };
  if (kind !== 'schema' && kind !== 'table') return null;
  const source = sourceOf(route.draft, row.path);
  return source && { kind, source, id: JSON.stringify([source, valueAt(route.draft.written, source)]) };
}

/** The source database of a section: that of its own operation, or that of the target's snapshots. */
function sourceOf({ written }: ConfigurationDraft, path: KeyPath): KeyPath | null {
  const target = path.slice(0, 2);
  const candidates: KeyPath[] = [
    [...path.slice(0, 3), 'src_url'],
    [...target, 'snapshot', 'src_url'],
  ];
  return candidates.find((candidate) => typeof valueAt(written, candidate) === 'string') ?? null;
}

function takenAt(route: EditorRoute): string[] {
  const path = panesOf(route)?.row.path;
  const items = route.draft && path && route.task === 'add' ? valueAt(route.draft.written, path) : [];
  return Array.isArray(items) ? items.filter((item) => typeof item === 'string') : [];
}

/** The unchanged value does not filter the suggestions. */
function isUntouched(route: EditorRoute): boolean {
  const field = route.task === 'value' ? panesOf(route)?.field : null;
  return field ? route.typing?.text === textToType(field) : false;
}

function matching(names: NameWithSize[], text: string): NameWithSize[] {
  const wanted = text.toLowerCase();
  const rank = ({ name }: NameWithSize): 'begins' | 'contains' | 'none' => {
    const at = name.toLowerCase().indexOf(wanted);
    // A table name follows its schema's name and a dot.
    return at === -1 ? 'none' : at === 0 || name[at - 1] === '.' ? 'begins' : 'contains';
  };
  const ranked = Map.groupBy(names, rank);
  return [...(ranked.get('begins') ?? []), ...(ranked.get('contains') ?? [])].slice(0, MOST_SHOWN);
}
