import type { Shape } from '../../src/config/schema/shape.ts';
import { dotted, isTree, type KeyPath, valueAt } from '../../src/config/tree.ts';
import type { ConfigurationDraft } from '../../src/operations/configuration/edit-configuration.ts';
import type { Problem } from '../../src/results/configuration/configuration-results.ts';
import { HIDDEN, hidePassword, typedSecret, typedUrl } from '../app/frame/hidden-text.ts';
import { problemsBelow, rowId, type TreeRow } from './tree-rows.ts';

export interface Field {
  id: string;
  path: KeyPath;
  label: string;
  shape: Extract<Shape, { kind: 'value' }>;
  /** The value in the file; `undefined` when there is none. */
  value: unknown;
  /** The schema has the key. An unknown key can only be renamed or removed. */
  isKnown: boolean;
  /** `null` where the value is typed. */
  choices: string[] | null;
  problems: Problem[];
  /** The environment variable that overrides the file. */
  variable: string | null;
}

/** The values of a section, or the items of a list of values. */
export function fieldsOf(draft: ConfigurationDraft, { shape, path }: TreeRow): Field[] {
  const field = (key: string | number, of: Shape): Field[] =>
    of.kind === 'value' ? [fieldAt(draft, { path: [...path, key], shape: of })] : [];
  const items = valueAt(draft.written, path);
  if (shape.kind === 'object') {
    const unknown = Object.keys(isTree(items) ? items : {}).filter((key) => !shape.keys.has(key));
    return [...shape.keys]
      .flatMap(([key, of]) => field(key, of))
      .toSorted((one, other) => Number(isInternal(one)) - Number(isInternal(other)))
      .concat(unknown.flatMap((key) => field(key, UNKNOWN)));
  }
  return shape.kind === 'list' && Array.isArray(items) ? items.flatMap((_, index) => field(index, shape.of)) : [];
}

function isInternal({ shape }: Field): boolean {
  return shape.traits.internal === true;
}

/** Hidden: the value may be a secret under a misspelt name. */
const UNKNOWN: Shape = {
  ...{ kind: 'value', type: 'text', choices: [], example: undefined, default: undefined, required: false },
  description: 'There is no such key.',
  traits: { secret: true },
};

function fieldAt(draft: ConfigurationDraft, { path, shape }: Pick<Field, 'path' | 'shape'>): Field {
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

function choicesOf({ written }: ConfigurationDraft, shape: Field['shape']): string[] | null {
  if (shape.type === 'boolean') return ['true', 'false'];
  if (shape.choices.length > 0) return shape.choices;
  if (shape.traits.names !== 'storage_profile') return null;
  return isTree(written.storage_profiles) ? Object.keys(written.storage_profiles) : [];
}

/** The value without secrets: hides a secret, and the password of a URL. */
export function shownValue({ value, shape }: Pick<Field, 'value' | 'shape'>): string {
  const text = textOf(value);
  if (text.startsWith('$aes$')) return `${HIDDEN} (encrypted)`;
  if (!shape.traits.secret || isTree(value)) return text;
  return text.includes('://') ? hidePassword(text) : HIDDEN;
}

export function typedValue({ shape }: Pick<Field, 'shape'>, text: string): string {
  if (!shape.traits.secret) return text;
  return isUrl(shape) ? typedUrl(text) : typedSecret(text);
}

/** The initial text of a field; empty for a secret. */
export function textToType({ value, shape }: Pick<Field, 'value' | 'shape'>): string {
  if (shape.traits.secret && !isUrl(shape)) return '';
  return isTree(value) ? '' : textOf(value);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return isTree(value) ? '{…}' : String(value);
}

/** Reports whether values of the shape are URLs, by its example. */
export function isUrl({ example }: Pick<Shape, 'example'>): boolean {
  return typeof example === 'string' && example.includes('://');
}
