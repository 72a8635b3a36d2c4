import type { Problem } from '../../src/config/configuration.ts';
import type { Shape } from '../../src/config/schema/shape.ts';
import { dotted, isTree, type KeyPath, valueAt } from '../../src/config/tree.ts';
import type { Draft } from '../../src/operations/configuration/edit-configuration.ts';
import { HIDDEN, hidePassword, typedSecret, typedUrl } from '../app/hidden-text.ts';
import { problemsBelow, rowId, type TreeRow } from './tree-rows.ts';

/** A value that can be typed or chosen. */
export interface Field {
  id: string;
  path: KeyPath;
  label: string;
  shape: Extract<Shape, { kind: 'value' }>;
  /** As the file says it; `undefined` when it does not. */
  value: unknown;
  /** Whether the schema has such a key; another one can only get another name, or go. */
  isKnown: boolean;
  /** What can be chosen; `null` where it is typed. */
  choices: string[] | null;
  problems: Problem[];
  /** The variable that wins over the file. */
  variable: string | null;
}

/** The form of a section: the values in it, or the items of a list of values. */
export function fieldsOf(draft: Draft, { shape, path }: TreeRow): Field[] {
  const field = (key: string | number, of: Shape): Field[] =>
    of.kind === 'value' ? [fieldAt(draft, { path: [...path, key], shape: of })] : [];
  const items = valueAt(draft.written, path);
  if (shape.kind === 'object') {
    const unknown = Object.keys(isTree(items) ? items : {}).filter((key) => !shape.keys.has(key));
    return [...shape.keys].flatMap(([key, of]) => field(key, of)).concat(unknown.flatMap((key) => field(key, UNKNOWN)));
  }
  return shape.kind === 'list' && Array.isArray(items) ? items.flatMap((_, index) => field(index, shape.of)) : [];
}

/** Its value may be a secret whose name is misspelt. */
const UNKNOWN: Shape = {
  ...{ kind: 'value', type: 'text', choices: [], example: undefined, default: undefined, required: false },
  description: 'There is no such key.',
  traits: { secret: true },
};

function fieldAt(draft: Draft, { path, shape }: Pick<Field, 'path' | 'shape'>): Field {
  const key = path.at(-1);
  return {
    ...{ id: rowId(path), path, shape, label: typeof key === 'number' ? String(key + 1) : String(key) },
    value: valueAt(draft.written, path),
    isKnown: shape !== UNKNOWN,
    choices: choicesOf(draft, shape),
    problems: problemsBelow(draft.problems, path),
    variable: draft.variables.get(dotted(path)) ?? null,
  };
}

function choicesOf({ written }: Draft, shape: Field['shape']): string[] | null {
  if (shape.type === 'boolean') return ['true', 'false'];
  if (shape.choices.length > 0) return shape.choices;
  // A profile that does not exist is no choice.
  if (shape.traits.names !== 'storage_profile') return null;
  return isTree(written.storage_profiles) ? Object.keys(written.storage_profiles) : [];
}

/** The value as it may be seen: of a secret nothing, of a URL all but the password. */
export function shownValue({ value, shape }: Pick<Field, 'value' | 'shape'>): string {
  const text = textOf(value);
  if (text.startsWith('$aes$')) return `${HIDDEN} (encrypted)`;
  if (!shape.traits.secret || isTree(value)) return text;
  return text.includes('://') ? hidePassword(text) : HIDDEN;
}

/** What is seen of a value while it is typed. */
export function typedValue({ shape }: Pick<Field, 'shape'>, text: string): string {
  if (!shape.traits.secret) return text;
  return isUrl(shape) ? typedUrl(text) : typedSecret(text);
}

/** What a field has when one begins to type; a secret is typed anew. */
export function textToType({ value, shape }: Pick<Field, 'value' | 'shape'>): string {
  if (shape.traits.secret && !isUrl(shape)) return '';
  return isTree(value) ? '' : textOf(value);
}

/** What stands where a value belongs may be anything. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return isTree(value) ? '{…}' : String(value);
}

/** Whether the value is an address with a password in it, most of which may be seen. */
export function isUrl({ example }: Pick<Shape, 'example'>): boolean {
  return typeof example === 'string' && example.includes('://');
}
