import { go } from 'fuzzysort';
import type { TextEdit } from '../../components/text-edit.ts';
import type { ListState } from '../../src/state/list.ts';
import { splitSelector, toSelector } from '../../src/text/snapshot-selector.ts';
import { ACTIVITY, bindingsOf, keyName, MOUSE, REFRESH } from '../app/keys.ts';
import { contextOf, type KeyBinding, type KeyContext, type Model, screenOf, targetNamed } from '../app/model.ts';
import type { Route } from '../app/route.ts';
import { latestNotLoadable } from '../app/why-not.ts';
import { CHECK } from '../commands/configuration/check.ts';
import { EDIT_CONFIGURATION } from '../commands/configuration/edit-configuration.ts';
import { confirmLoad, LOAD } from '../commands/load.ts';

declare module '../app/route.ts' {
  interface Routes {
    palette: PaletteRoute;
  }
}

export interface PaletteRoute {
  screen: 'palette';
  /** The route that it was opened on, which has its commands. */
  of: Route;
  typing: TextEdit;
  list: ListState;
}

export interface PaletteEntry {
  /** A verb and its object: `Load latest snapshot…`, with dots where it asks first. */
  name: string;
  help: string;
  /** Both. */
  text: string;
  /** Empty where the present screen has no key for it. */
  keys: string;
  /** Why it is disabled. */
  reason: string | null;
  does: KeyBinding | { goTo: string };
}

/** The matches of the typed text, best first; all entries while nothing is typed. */
export function entriesInView(model: Model, { of, typing }: PaletteRoute): PaletteEntry[] {
  const entries = paletteEntries(model, of);
  const words = typing.text.trim();
  if (words === '') return entries;
  const found = go(words, entries, { keys: ['name', 'text'], limit: 0, threshold: 0.2, scoreFn: byNameFirst });
  return [...selectedLoad(model, contextOf(model, of), words), ...found.map(({ obj }) => obj)];
}

/** Loads the snapshot that the text selects: `app@main`. */
function selectedLoad(model: Model, context: KeyContext, selector: string): PaletteEntry[] {
  const [name = '', word] = splitSelector(selector);
  const target = targetNamed(model.targets.getState(), name);
  if (!target || !word) return [];
  const reason = latestNotLoadable({ ...context, target });
  const run = () => confirmLoad(model, { target: name, snapshot: toSelector(word) }, selector);
  const text = `Load ${selector}…`;
  return [{ name: text, help: LOAD.help, text, keys: '', reason, does: { ...LOAD, whyNot: () => reason, run } }];
}

/** A match in the name ranks before one in the help: `so` finds sort, not a help text about a source. */
function byNameFirst([name, text]: ArrayLike<{ score: number }> & Iterable<{ score: number }>): number {
  return Math.max(name?.score ?? 0, (text?.score ?? 0) * 0.7);
}

/** Commands that need nothing of a screen. */
const EVERYWHERE: KeyBinding[] = [REFRESH, ACTIVITY, CHECK, EDIT_CONFIGURATION, MOUSE];

/** The commands of the screen one came from and of the whole program, then every target. */
function paletteEntries(model: Model, of: Route): PaletteEntry[] {
  const context = contextOf(model, of);
  const here = bindingsOf(screenOf(model, of), context).filter(({ palette }) => palette !== false);
  const elsewhere = EVERYWHERE.filter(({ run }) => here.every((binding) => binding.run !== run));
  const entryOf = (binding: KeyBinding, keys: string): PaletteEntry => {
    const name = binding.palette || capitalized(binding.label ?? binding.help);
    return {
      name,
      help: binding.help,
      text: `${name}: ${binding.help}`,
      keys,
      reason: binding.whyNot?.(context) ?? null,
      does: binding,
    };
  };
  return [
    ...here.map((binding) => entryOf(binding, keyName(binding.keys[0]))),
    ...elsewhere.map((binding) => entryOf(binding, '')),
    ...model.targets.getState().entries.map(({ row }) => ({
      name: `Go to ${row.name}`,
      help: row.title === row.name ? '' : row.title,
      text: `Go to ${row.name}: ${row.title}`,
      keys: '',
      reason: null,
      does: { goTo: row.name },
    })),
  ];
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
