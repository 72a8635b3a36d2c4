import { go } from 'fuzzysort';
import { factsOf } from '../app/facts.ts';
import type { Action, KeyBinding } from '../app/key-binding.ts';
import { bindingsAt, EVERYWHERE_ACTIONS, keyName } from '../app/keys.ts';
import type { Model } from '../app/model.ts';
import type { PaletteRoute, Route } from '../app/route.ts';

/** Something that can be done from the palette. */
export interface PaletteEntry {
  /** One word or two. */
  name: string;
  /** The name and what it does. */
  text: string;
  /** The key that does the same; empty where there is none. */
  keys: string;
  /** Why it cannot be done now. */
  reason: string | null;
  does: { action: Action } | { goTo: string };
}

/** What the words that are typed find, best first; everything while nothing is typed. */
export function entriesInView(model: Model, { of, typing }: PaletteRoute): PaletteEntry[] {
  const entries = paletteEntries(model, of);
  const words = typing.text.trim();
  if (words === '') return entries;
  const found = go(words, entries, { keys: ['name', 'text'], limit: 0, threshold: 0.2, scoreFn: byNameFirst });
  return found.map(({ obj }) => obj);
}

/** `so` means sort, although a source is in what building does. */
function byNameFirst([name, text]: ArrayLike<{ score: number }> & Iterable<{ score: number }>): number {
  return Math.max(name?.score ?? 0, (text?.score ?? 0) * 0.7);
}

const MOVING = /^(move|page)-|^(open|back|palette|clear-filter|filter|help)$/;

/** Every action of the screen one came from and of the whole program, then every target. */
function paletteEntries(model: Model, of: Route): PaletteEntry[] {
  const facts = factsOf(model, of);
  const here = bindingsAt(of.screen, facts).filter(({ action }) => !MOVING.test(action));
  const elsewhere = EVERYWHERE_ACTIONS.filter(({ action }) => here.every((binding) => binding.action !== action));
  const entryOf = ({ keys, action, label, help, whyNot }: KeyBinding, isHere: boolean): PaletteEntry => ({
    name: label ?? action,
    text: `${label ?? action}: ${help}`,
    keys: isHere ? keyName(keys[0]) : '',
    reason: whyNot?.(facts) ?? null,
    does: { action },
  });
  return [
    ...here.map((binding) => entryOf(binding, true)),
    ...elsewhere.map((binding) => entryOf(binding, false)),
    ...model.targets.getState().entries.map(({ row }) => ({
      name: row.name,
      text: `go to ${row.name}${row.title === row.name ? '' : `: ${row.title}`}`,
      keys: '',
      reason: null,
      does: { goTo: row.name },
    })),
  ];
}
