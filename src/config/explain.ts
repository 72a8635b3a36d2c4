import { redact } from '../process/redact.ts';
import type { ExplainedValue, ValueOrigin } from '../results/configuration/configuration-results.ts';
import type { Inspection } from './load.ts';
import { type Origins, variableOf } from './problems/key-problem.ts';
import { settingsSchema } from './schema/settings.ts';
import { type Shape, shapeOf } from './schema/shape.ts';
import { dotted, isTree, type KeyPath, valueAt } from './tree.ts';
import { isConnectionUrl } from './urls/url-scheme.ts';

export type Explanation = Pick<Inspection, 'values' | 'written' | 'origins'> & {
  showUrl: (url: string) => string;
};

export function explainConfiguration({ values, written, origins, showUrl }: Explanation): ExplainedValue[] {
  if (values === null) return [];
  const root: ValueAtPath = { shape: shapeOf(settingsSchema), value: values, written, path: [] };
  return [...leavesOf(root)].map((leaf) => ({
    key: dotted(leaf.path),
    path: [...leaf.path],
    value: shownValue(leaf, showUrl),
    origin: originOf(leaf, origins),
  }));
}

interface ValueAtPath {
  shape: Shape;
  /** In force; `undefined` when invalid, or not set while something else is invalid. */
  value: unknown;
  /** From file or variable; `undefined` when neither sets it. */
  written: unknown;
  path: KeyPath;
}

function* leavesOf(place: ValueAtPath): Generator<ValueAtPath> {
  const { shape, value } = place;
  const parts = partsOf(place);
  if (parts === null) {
    if (value !== undefined || isUnfilled(place)) yield place;
    else if (!isSet(place) && shape.default !== undefined) yield { ...place, value: shape.default };
    return;
  }
  const leaves = parts.flatMap((part) => [...leavesOf(part)]);
  yield* leaves;
  // Lists a target without an operation too.
  if (leaves.length === 0 && isTree(value) && isSet(place)) yield place;
}

function partsOf({ shape, value, written, path }: ValueAtPath): ValueAtPath[] | null {
  const part = (key: string | number, of: Shape): ValueAtPath => ({
    shape: of,
    value: valueAt(value, [key]),
    written: valueAt(written, [key]),
    path: [...path, key],
  });
  switch (shape.kind) {
    case 'object':
      return [...shape.keys].map(([key, child]) => part(key, child));
    case 'map':
      return isTree(value) ? Object.keys(value).map((name) => part(name, shape.of)) : [];
    case 'list':
      if (shape.of.kind !== 'object') return null;
      return Array.isArray(value) ? [...value.keys()].map((index) => part(index, shape.of)) : [];
    case 'value':
      return null;
    default:
      return shape satisfies never;
  }
}

function isSet({ shape, written }: ValueAtPath): boolean {
  return written !== undefined && (written !== null || shape.default === undefined);
}

/** A URL with an unfilled template is shown as it is written. */
function isUnfilled({ shape, value, written }: ValueAtPath): boolean {
  return value === undefined && shape.traits.template === true && typeof written === 'string' && written.includes('{{');
}

const HIDDEN = '***';

function shownValue(place: ValueAtPath, showUrl: Explanation['showUrl']): unknown {
  const { shape, value, written } = place;
  if (isUnfilled(place)) return withoutCredentials(String(written));
  if (typeof value === 'string' && shape.traits.secret && isConnectionUrl(value)) return urlText(value, showUrl);
  // An encrypted value is a secret under any key.
  if (shape.traits.secret || JSON.stringify(written)?.includes('$aes$')) return HIDDEN;
  return typeof value === 'string' ? redact(value) : value;
}

function urlText(url: string, showUrl: Explanation['showUrl']): string {
  try {
    return showUrl(url);
  } catch {
    return withoutCredentials(url);
  }
}

function withoutCredentials(url: string): string {
  return redact(url.replace(/:\/\/.*@/s, `://${HIDDEN}@`));
}

function originOf(place: ValueAtPath, { file, source, variables }: Origins): ValueOrigin {
  const nowhere = { file: null, line: null, variable: null };
  if (!isSet(place)) return { kind: 'default', ...nowhere };
  const variable = variableOf(place.path, variables);
  if (variable !== null) return { kind: 'variable', ...nowhere, variable };
  return { kind: 'file', ...nowhere, file, line: source?.locate(place.path, 'key').line ?? null };
}
