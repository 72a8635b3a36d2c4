import * as v from 'valibot';
import type { Finding } from './finding.ts';
import { type Settings, settingsSchema } from './schema/settings.ts';
import type { Shape } from './schema/shape.ts';
import { type KeyPath, removeValue, type Tree } from './tree.ts';

/** What is right in a configuration, while other things in it may be wrong or missing. */
export type Draft = PartOf<Settings>;

type PartOf<T> = T extends (infer Item)[]
  ? (PartOf<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: PartOf<T[Key]> | undefined }
    : T;

export interface CheckedValues {
  findings: Finding[];
  /** With the defaults; `null` when anything is wrong. */
  settings: Settings | null;
  draft: Draft;
}

/** Checks every value against the schema, and takes what is wrong out of the tree. */
export function checkValues(tree: Tree, shape: Shape): CheckedValues {
  const result = v.safeParse(settingsSchema, tree);
  if (result.success) return { findings: [], settings: result.output, draft: result.output };
  const findings = result.issues.map((issue) => toFinding(issue, shape));
  for (const { path } of findings) removeValue(tree, path);
  return { findings, settings: null, draft: tree as Draft };
}

function toFinding(issue: v.BaseIssue<unknown>, root: Shape): Finding {
  const steps = issue.path ?? [];
  const path = steps.map((step) => (typeof step.key === 'number' ? step.key : String(step.key)));
  const shape = shapeAt(root, path);
  const hint = shape?.traits.hint ?? null;
  if (steps.at(-1)?.origin === 'key') {
    if (issue.received === 'undefined') {
      return { path, code: 'missing_key', message: { says: 'is missing' }, hint: hint ?? shape?.description ?? null };
    }
    return { path, code: 'invalid_name', at: 'key', message: { says: `is not a name: it ${issue.message}` }, hint };
  }
  if (issue.kind === 'validation') return { path, code: 'wrong_value', message: { says: issue.message }, hint };
  const expected = shape ? expectation(shape) : issue.expected;
  const code = shape?.kind === 'value' && shape.choices.length > 0 ? 'wrong_value' : 'wrong_type';
  const found = describeFound(issue.input, shape?.traits.secret === true);
  return {
    path,
    code,
    message: { says: `must be ${expected}, found ${found}` },
    hint: hint ?? quotingHint(shape, issue.input),
  };
}

function shapeAt(root: Shape, path: KeyPath): Shape | null {
  let shape: Shape | undefined = root;
  for (const part of path) {
    if (shape?.kind === 'object') shape = shape.keys.get(String(part));
    else if (shape?.kind === 'map' || shape?.kind === 'list') shape = shape.of;
  }
  return shape ?? null;
}

const TYPE_NAMES = { text: 'text', number: 'a number', integer: 'a whole number', boolean: 'true or false' };

function expectation(shape: Shape): string {
  if (shape.kind === 'list') return 'a list';
  if (shape.kind !== 'value') return 'a map of keys';
  return shape.choices.length > 0 ? `one of ${shape.choices.join(', ')}` : TYPE_NAMES[shape.type];
}

function describeFound(value: unknown, secret: boolean): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const type = typeof value === 'string' ? 'text' : typeof value === 'number' ? 'a number' : 'true or false';
  if (secret) return type;
  const shown = JSON.stringify(typeof value === 'string' && value.length > 40 ? `${value.slice(0, 39)}…` : value);
  return typeof value === 'string' ? shown : `${type === 'a number' ? 'the number ' : ''}${shown}`;
}

function quotingHint(shape: Shape | null, value: unknown): string | null {
  const wantsText = shape?.kind === 'value' && shape.type === 'text' && shape.choices.length === 0;
  return wantsText && typeof value !== 'object' ? 'Put the value in quotes.' : null;
}
