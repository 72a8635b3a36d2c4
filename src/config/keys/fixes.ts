import type { Problem } from '../../results/configuration/configuration-results.ts';
import { nearest } from '../../text/nearest.ts';
import type { Change, PlainValue } from '../edit/change.ts';
import { meantValue } from '../problems/mismatch.ts';
import { type Shape, shapeAt } from '../schema/shape.ts';
import { isTree, type KeyPath, type Tree, valueAt } from '../tree.ts';
import { pathOfKey } from '../yaml/path-of-key.ts';
import { replacementOf } from './old-keys.ts';
import { keyGuesses } from './unknown-keys.ts';

export interface TextFix {
  does: string;
  changes: Change[];
}

export interface FixContext {
  written: Tree;
  shape: Shape;
  cliProfiles: string[];
}

interface FixTarget extends FixContext {
  path: KeyPath;
  value: unknown;
}

/** The fix of a problem, where one is certain; `null` where only a person can decide. */
export function fixFor({ code, key, file }: Problem, fixable: FixContext): TextFix | null {
  if (file === null) return null;
  const path = pathOfKey(fixable.written, key);
  return FIXES[code]?.({ ...fixable, path, value: valueAt(fixable.written, path) }) ?? null;
}

const FIXES: Record<string, (place: FixTarget) => TextFix | null> = {
  unknown_key: toTheKeyThatWasMeant,
  wrong_type: asItWasMeant,
  wrong_value: toTheNearestChoice,
  storage_profile_not_found: toTheNearestProfile,
  cli_profile_not_found: ({ path, value, cliProfiles }) => settingIfKnown(path, nearest(String(value), cliProfiles)),
  // include_schemas wins, so this changes no result.
  schema_in_both_lists: ({ path, value }) => takingOut(path, `${value} out of exclude_schemas`),
  schema_config_ignored: ({ path }) => takingOut(path, 'schema_config out'),
};

function toTheKeyThatWasMeant(place: FixTarget): TextFix | null {
  const { path, shape, written } = place;
  const instead = replacementOf(path);
  if (instead !== null) return moving(place, pathOfKey(written, instead));
  const around = shapeAt(shape, path.slice(0, -1));
  if (around?.kind !== 'object') return null;
  const { sibling, elsewhere } = keyGuesses(shape)(String(path.at(-1)), [...around.keys.keys()]);
  if (sibling !== null) return moving(place, [...path.slice(0, -1), sibling]);
  const [only, ...others] = elsewhere;
  if (only === undefined || others.length > 0) return null;
  // `<name>` is the target or profile of the key.
  const named = only.replace('<name>', () => String(path[1]));
  return named.startsWith(String(path[0])) || !only.includes('<name>') ? moving(place, named.split('.')) : null;
}

/** Moves a value to a missing key, in that key's style. */
function moving({ written, shape, path, value }: FixTarget, to: KeyPath): TextFix | null {
  const wanted = shapeAt(shape, to);
  const [from, name] = [path.at(-1), to.at(-1)];
  if (!wanted || typeof name !== 'string' || valueAt(written, to) !== undefined) return null;
  const isSibling = path.length === to.length && path.slice(0, -1).every((part, index) => part === to[index]);
  if (isSibling) return { does: `Rename ${from} to ${name}`, changes: [{ kind: 'rename', path, name }] };
  const arriving = settingChanges(wanted, to, value);
  if (!arriving) return null;
  return { does: `Move ${from} to ${to.slice(-2).join('.')}`, changes: [...arriving, { kind: 'remove', path }] };
}

/** A value, or the items of a list; a single value becomes the only item. */
function settingChanges(shape: Shape, path: KeyPath, value: unknown): Change[] | null {
  const items = Array.isArray(value) ? value : [value];
  if (items.length === 0 || !items.every(isPlain)) return null;
  if (shape.kind === 'list' && shape.of.kind === 'value')
    return items.map((item) => ({ kind: 'append', path, value: item }));
  return shape.kind === 'value' && isPlain(value) ? [{ kind: 'set', path, value }] : null;
}

function asItWasMeant({ shape, path, value }: FixTarget): TextFix | null {
  const wanted = shapeAt(shape, path);
  if (!wanted || isTree(value) || Array.isArray(value)) return null;
  if (wanted.kind === 'list' && isPlain(value) && !wanted.traits.secret) {
    const items = settingChanges(wanted, path, value);
    return items && { does: 'Write it as a list', changes: [{ kind: 'remove', path }, ...items] };
  }
  const meant = meantValue(wanted, value);
  return meant === null ? null : setting(path, meant);
}

function toTheNearestChoice({ shape, path, value }: FixTarget): TextFix | null {
  const wanted = shapeAt(shape, path);
  if (wanted?.kind !== 'value' || typeof value !== 'string') return null;
  const word = value.toLowerCase();
  const begun = wanted.choices.find((choice) => word !== '' && choice.startsWith(word));
  const choice = begun ?? nearest(word, wanted.choices);
  return settingIfKnown(path, choice);
}

function toTheNearestProfile({ written, path, value }: FixTarget): TextFix | null {
  const known = Object.keys(isTree(written.storage_profiles) ? written.storage_profiles : {});
  const name = nearest(String(value), known) ?? (known.length === 1 ? known[0] : null);
  return name ? setting(path, name) : null;
}

function settingIfKnown(path: KeyPath, value: PlainValue | null): TextFix | null {
  return value === null ? null : setting(path, value);
}

function setting(path: KeyPath, value: PlainValue): TextFix {
  return { does: `Write ${value} for ${path.at(-1)}`, changes: [{ kind: 'set', path, value }] };
}

function takingOut(path: KeyPath, what: string): TextFix {
  return { does: `Take ${what}`, changes: [{ kind: 'remove', path }] };
}

function isPlain(value: unknown): value is PlainValue {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
