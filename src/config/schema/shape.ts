import * as v from 'valibot';
import type { KeyPath } from '../tree.ts';
import type { Traits } from './traits.ts';

/** A schema as plain data, so that variables, unknown keys and generated pages do not depend on valibot's internals. */
export type Shape = KeyDescription &
  (
    | { kind: 'object'; keys: Map<string, Shape> }
    | { kind: 'map'; of: Shape }
    | { kind: 'list'; of: Shape }
    | { kind: 'value'; type: ValueType; choices: string[] }
  );

export type ValueType = 'text' | 'number' | 'integer' | 'boolean';

interface KeyDescription {
  description: string;
  example: unknown;
  default: unknown;
  required: boolean;
  traits: Traits;
}

export function shapeOf(schema: v.GenericSchema): Shape {
  const outer = schema as SchemaInternals;
  const optional = outer.type === 'optional' || outer.type === 'exact_optional';
  const inner = optional && outer.wrapped ? outer.wrapped : outer;
  const facts: KeyDescription = {
    description: v.getDescription(inner) ?? '',
    example: v.getExamples(inner).at(-1),
    default: outer.default,
    required: !optional,
    traits: v.getMetadata(inner),
  };
  switch (inner.type) {
    case 'strict_object':
      return { ...facts, kind: 'object', keys: keysOf(inner.entries ?? {}) };
    case 'record':
      return { ...facts, kind: 'map', of: shapeOf(part(inner.value)) };
    case 'array':
      return { ...facts, kind: 'list', of: shapeOf(part(inner.item)) };
    case 'picklist':
      return { ...facts, kind: 'value', type: 'text', choices: inner.options ?? [] };
    case 'string':
    // Text, or a list instead of comma-separated text.
    case 'union':
      return { ...facts, kind: 'value', type: 'text', choices: [] };
    case 'number':
      return { ...facts, kind: 'value', type: isInteger(inner) ? 'integer' : 'number', choices: [] };
    case 'boolean':
      return { ...facts, kind: 'value', type: 'boolean', choices: [] };
    default:
      throw new TypeError(`The configuration's schema uses ${inner.type}, which nothing derived from it understands`);
  }
}

export function shapeAt(root: Shape, path: KeyPath): Shape | null {
  return path.reduce<Shape | null>(childShape, root);
}

export function childShape(shape: Shape | null, part: string | number): Shape | null {
  if (shape?.kind === 'object') return shape.keys.get(String(part)) ?? null;
  return shape?.kind === 'map' || shape?.kind === 'list' ? shape.of : null;
}

interface SchemaInternals extends v.GenericSchema {
  wrapped?: SchemaInternals;
  default?: unknown;
  entries?: Record<string, v.GenericSchema>;
  value?: v.GenericSchema;
  item?: v.GenericSchema;
  options?: string[];
  pipe?: readonly { type: string }[];
}

function keysOf(entries: Record<string, v.GenericSchema>): Map<string, Shape> {
  return new Map(Object.entries(entries).map(([key, schema]) => [key, shapeOf(schema)]));
}

function part(schema: v.GenericSchema | undefined): v.GenericSchema {
  if (!schema) throw new TypeError('A map or list of the configuration lacks the schema of its parts');
  return schema;
}

function isInteger(schema: SchemaInternals): boolean {
  return (schema.pipe ?? []).some((item) => item.type === 'integer' || isInteger(item as SchemaInternals));
}
