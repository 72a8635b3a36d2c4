import { redact } from '../../process/redact.ts';
import type { Shape } from '../schema/shape.ts';
import type { KeyPath } from '../tree.ts';
import type { KeyProblem } from './key-problem.ts';

export function mismatch(path: KeyPath, shape: Shape, value: unknown): KeyProblem {
  const isChoice = shape.kind === 'value' && shape.choices.length > 0;
  // Instead of a map, the value may belong to any key, also to a password.
  const isSecret = shape.traits.secret === true || shape.kind === 'object' || shape.kind === 'map';
  const found = describeFound(value, { isSecret });
  return {
    path,
    code: isChoice ? 'wrong_value' : 'wrong_type',
    message: { says: `must be ${expectation(shape)}, found ${found}` },
    hint: shape.traits.hint ?? writingHint(shape, value),
  };
}

const TYPE_NAMES = { text: 'text', number: 'a number', integer: 'a whole number', boolean: 'true or false' };

function expectation(shape: Shape): string {
  if (shape.kind === 'list') return 'a list';
  if (shape.kind !== 'value') return 'a map of keys';
  return shape.choices.length > 0 ? `one of ${shape.choices.join(', ')}` : TYPE_NAMES[shape.type];
}

function describeFound(value: unknown, { isSecret }: { isSecret: boolean }): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value !== 'string') return isSecret ? `a ${typeof value}` : `the ${typeof value} ${value}`;
  // Several words may contain a password of a key with a forgotten colon.
  return isSecret || !/^\S{1,40}$/.test(value) ? 'text' : JSON.stringify(redact(value));
}

const MEANT = new Map(Object.entries({ yes: true, on: true, 1: true, no: false, off: false, 0: false }));

/** Explains how to write the intended value: YAML reads much text as a number or a boolean, and vice versa. */
function writingHint(shape: Shape, value: unknown): string | null {
  const isScalar = value !== null && typeof value !== 'object';
  if (shape.kind === 'list') return isScalar && !shape.traits.secret ? 'Write it in brackets: [a, b].' : null;
  if (shape.kind !== 'value' || shape.choices.length > 0 || !isScalar) return null;
  if (shape.type === 'text') return 'Put the value in quotes.';
  const meant = meantValue(shape, value);
  if (shape.type !== 'boolean') return meant === null ? null : 'Remove the quotes.';
  return meant === null ? null : `Write ${meant}.`;
}

/** The number or boolean that a text was meant as. The original spelling of a number is unknown. */
export function meantValue(shape: Shape, value: unknown): number | boolean | null {
  if (shape.kind !== 'value' || shape.choices.length > 0 || shape.type === 'text') return null;
  if (shape.type === 'boolean') return MEANT.get(String(value).toLowerCase()) ?? null;
  return typeof value === 'string' && Number(value) > 0 ? Number(value) : null;
}
