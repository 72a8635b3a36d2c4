import { go } from 'fuzzysort';
import type { TextEdit } from '../../components/text-edit.ts';
import type { CommandId } from '../../src/config/schema/default-keys.ts';
import type { Setting } from '../../src/config/schema/list-settings.ts';
import type { Settings } from '../../src/config/schema/settings.ts';
import { kindBadge } from '../../src/presentation/snapshot.ts';
import type { ListState } from '../../src/state/list.ts';
import { capitalized, formatAge } from '../../src/text/format.ts';
import { splitSelector, toSelector } from '../../src/text/snapshot-selector.ts';
import { ACTIVITY, bindingsOf, keyName, MOUSE, REFRESH, runBinding } from '../app/keys.ts';
import { contextOf, type KeyBinding, type KeyContext, type Model, screenOf, targetNamed } from '../app/model.ts';
import type { Route } from '../app/route.ts';
import { latestNotLoadable, notEditable } from '../app/why-not.ts';
import { CHECK } from '../commands/configuration/check.ts';
import { EDIT_CONFIGURATION, editConfiguration } from '../commands/configuration/edit-configuration.ts';
import { confirmLoad, LOAD } from '../commands/load.ts';
import { openSnapshot, openTarget } from '../commands/open-target.ts';
import { SIGN_IN } from '../commands/sign-in.ts';
import { openSnapshotText } from './text.ts';

export interface PaletteRoute {
  screen: 'palette';
  /** The route that it was opened on, which has its commands. */
  of: Route;
  typing: TextEdit;
  list: ListState;
  /** Settings of the configuration; empty until they are known. */
  settings: Setting[];
}

export interface PaletteEntry {
  /** A verb and its object: `Load latest snapshot…`, with dots where it asks first. */
  name: string;
  help: string;
  /** Empty where the present screen has no key for it. */
  keys: string;
  /** Why it is disabled. */
  reason: string | null;
  /** Replaces or removes something: after others that match as well. */
  isLast?: boolean;
  run: () => void;
}

/** The matches of the typed text, best first; all entries while nothing is typed. */
export function entriesInView(model: Model, route: PaletteRoute): PaletteEntry[] {
  const words = route.typing.text.trim();
  const entries = [...paletteEntries(model, route), ...snapshotEntries(model, words)];
  if (words === '') return lastOnes(entries);
  return [...selectedLoad(model, contextOf(model, route.of), words), ...matching(entries, words)];
}

/** Whole words of the name first, then beginnings of its words, then the same letters in name or help. */
function matching(entries: PaletteEntry[], words: string): PaletteEntry[] {
  const typed = wordsOf(words);
  const ranked = Map.groupBy(entries, ({ name }) => rankOf(wordsOf(name), typed));
  const fuzzy = go(words, ranked.get('none') ?? [], {
    keys: ['name', 'help'],
    limit: MOST_FUZZY,
    threshold: 0.2,
    scoreFn,
  });
  return [
    ...lastOnes(earliest(ranked.get('exact') ?? [], typed)),
    ...lastOnes(earliest(ranked.get('prefix') ?? [], typed)),
    ...lastOnes(fuzzy.map(({ obj }) => obj)),
  ];
}

const MOST_FUZZY = 100;

/** By the place of the first typed word in the name: `Load snapshot` before `Go to load`. */
function earliest(entries: PaletteEntry[], [first = '']: string[]): PaletteEntry[] {
  const place = ({ name }: PaletteEntry): number => wordsOf(name).findIndex((word) => word.startsWith(first));
  return entries
    .map((entry) => ({ entry, at: place(entry) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ entry }) => entry);
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s…:]+/)
    .filter((word) => word !== '');
}

function rankOf(name: string[], typed: string[]): 'exact' | 'prefix' | 'none' {
  if (typed.every((word) => name.includes(word))) return 'exact';
  return typed.every((word) => name.some((other) => other.startsWith(word))) ? 'prefix' : 'none';
}

/** Entries that replace or remove something stand at the end. */
function lastOnes(entries: PaletteEntry[]): PaletteEntry[] {
  return entries.toSorted((a, b) => Number(a.isLast ?? false) - Number(b.isLast ?? false));
}

/** A match in the name ranks before one in the help: `so` finds sort, not a help text about a source. */
function scoreFn([name, help]: ArrayLike<{ score: number }> & Iterable<{ score: number }>): number {
  return Math.max(name?.score ?? 0, (help?.score ?? 0) * 0.7);
}

/** Loads the snapshot that the text selects: `app@main`. */
function selectedLoad(model: Model, context: KeyContext, selector: string): PaletteEntry[] {
  const [name = '', word] = splitSelector(selector);
  const target = targetNamed(model.targets.getState(), name);
  if (!target || !word) return [];
  const reason = latestNotLoadable({ ...context, target });
  const run = () => confirmLoad(model, { target: name, snapshot: toSelector(word) }, selector);
  return [{ name: `Load ${selector}…`, help: LOAD.help, keys: '', reason, run }];
}

/** Commands that need nothing of a screen. */
const EVERYWHERE: KeyBinding[] = [REFRESH, ACTIVITY, CHECK, EDIT_CONFIGURATION, SIGN_IN, MOUSE];

/** Commands that replace or remove something, or leave. */
const LAST = new Set<CommandId | undefined>(['undo', 'back', 'reset', 'remove', 'prune', 'cancel', 'switch', 'quit']);

/** The commands of the screen one came from and of the whole program, then every target, setting and theme. */
function paletteEntries(model: Model, { of, settings }: PaletteRoute): PaletteEntry[] {
  const context = contextOf(model, of);
  const here = bindingsOf(screenOf(model, of), context).filter(isNamed);
  const elsewhere = EVERYWHERE.filter(({ run }) => here.every((binding) => binding.run !== run));
  const entryOf = (binding: KeyBinding, keys: string): PaletteEntry => ({
    name: binding.palette || capitalized(binding.label ?? binding.help),
    help: binding.help,
    keys,
    reason: binding.whyNot?.(context) ?? null,
    isLast: LAST.has(binding.id),
    run: () => runBinding(model, binding),
  });
  const entry = { help: '', keys: '', reason: null };
  return [
    ...here.map((binding) => entryOf(binding, keyName(binding.keys[0]))),
    ...elsewhere.map((binding) => entryOf(binding, '')),
    ...model.targets.getState().entries.map(({ row: { name, title } }) => ({
      ...entry,
      name: `Go to ${name}`,
      help: title === name ? '' : title,
      run: () => openTarget(model, name),
    })),
    ...settings.map(({ key, description }) => ({
      ...entry,
      name: `Edit setting ${key}`,
      help: description,
      reason: notEditable(context),
      run: () => editConfiguration(model, key),
    })),
    ...(settings.find(({ key }) => key === 'theme')?.choices ?? []).map((theme) => ({
      ...entry,
      name: `Use theme ${theme}`,
      help: 'colours of this session',
      run: () => model.terminal.useTheme(theme as Settings['theme']),
    })),
  ];
}

/** Keys without a command are in the palette only by a name of their own. */
function isNamed({ id, palette }: KeyBinding): boolean {
  return palette !== false && (id !== undefined || palette !== undefined);
}

/** Snapshots of one target in the palette, unless the typed words are of an id. */
const MOST_SNAPSHOTS = 50;

/** The snapshots that were listed in this session. */
function snapshotEntries(model: Model, words: string): PaletteEntry[] {
  const now = model.clock().getTime();
  return Object.entries(model.snapshots.getState().targets).flatMap(([target, { rows }]) => {
    const ofId = words.length < 3 ? [] : rows.filter(({ id }) => id.startsWith(words));
    return [...new Set([...ofId, ...rows.slice(0, MOST_SNAPSHOTS)])].map((row) => ({
      name: openSnapshotText(row.id, target),
      help: [kindBadge(row.sanitized).text, formatAge(now - Date.parse(row.created_at)), row.note]
        .filter(Boolean)
        .join(', '),
      keys: '',
      reason: null,
      run: () => openSnapshot(model, { target, snapshot: row.id }),
    }));
  });
}
