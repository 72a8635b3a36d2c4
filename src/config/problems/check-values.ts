import * as v from 'valibot';
import { variableName } from '../environment.ts';
import { type Settings, settingsSchema } from '../schema/settings.ts';
import { type Shape, shapeAt } from '../schema/shape.ts';
import { removeValue, type Tree } from '../tree.ts';
import { invalidName } from './invalid-name.ts';
import type { KeyProblem } from './key-problem.ts';
import { mismatch } from './mismatch.ts';

export type Draft = PartOf<Settings>;

type PartOf<T> = T extends (infer Item)[]
  ? (PartOf<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: PartOf<T[Key]> | undefined }
    : T;

/** Validates every value against the schema, and removes invalid values from the tree. */
export function checkValues(
  tree: Tree,
  shape: Shape,
): { problems: KeyProblem[]; settings: Settings | null; draft: Draft } {
  const result = v.safeParse(settingsSchema, tree);
  if (result.success) return { problems: [], settings: result.output, draft: result.output };
  const problems = result.issues.map((issue) => toFinding(issue, shape));
  for (const { path } of problems) removeValue(tree, path);
  return { problems, settings: null, draft: tree as Draft };
}

function toFinding(issue: v.BaseIssue<unknown>, root: Shape): KeyProblem {
  const steps = issue.path ?? [];
  const path = steps.map((step) => (typeof step.key === 'number' ? step.key : String(step.key)));
  const shape = shapeAt(root, path);
  const hint = shape?.traits.hint ?? null;
  if (steps.at(-1)?.origin === 'key') {
    if (issue.received === 'undefined') {
      return { path, code: 'missing_key', message: { says: 'is missing' }, hint: hint ?? shape?.description ?? null };
    }
    return invalidName(path, issue.message);
  }
  if (issue.kind === 'validation') {
    const isTemplate = typeof issue.input === 'string' && issue.input.includes('{{') && !shape?.traits.template;
    const instead = `Templates are not filled in here. Set ${variableName(path.map(String))} instead.`;
    return { path, code: 'wrong_value', message: { says: issue.message }, hint: isTemplate ? instead : hint };
  }
  if (shape) return mismatch(path, shape, issue.input);
  return { path, code: 'wrong_type', message: { says: `must be ${issue.expected}` } };
}
