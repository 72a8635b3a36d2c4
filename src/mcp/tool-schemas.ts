import { toJsonSchema } from '@valibot/to-json-schema';
import { readAsset } from '../runtime/package-files.ts';
import type { Tool } from './tool.ts';

interface JsonSchema {
  type: 'object';
  [key: string]: unknown;
}

type Definitions = Record<string, unknown>;

const TRUNCATED = {
  type: 'array',
  description: 'Lists that were shortened',
  items: {
    type: 'object',
    properties: { at: { type: 'string' }, shown: { type: 'number' }, total: { type: 'number' } },
  },
};

/** Fields of a --json line that the answer lacks. */
const OF_EVENTS = ['event', 'command', 'duration_ms'];

export function inputSchema({ input }: Tool): JsonSchema {
  const { $schema: _, ...schema } = toJsonSchema(input, { typeMode: 'input' });
  return schema as JsonSchema;
}

/** The shapes of `--json`. */
export function readOutputSchemas(): (tool: Tool) => JsonSchema | undefined {
  const definitions = (JSON.parse(readAsset('events.schema.json')) as { $defs: Definitions }).$defs;
  return ({ output }) => {
    if (output === undefined) return undefined;
    const shape = withoutEvents(definitions[output] as Definitions);
    const names = referenced(shape, definitions);
    const used = Object.fromEntries([...names].map((name) => [name, definitions[name]]));
    return {
      ...shape,
      type: 'object',
      properties: { ...(shape.properties as object), truncated: TRUNCATED },
      ...(names.size > 0 && { $defs: used }),
    };
  };
}

function withoutEvents(shape: Definitions): Definitions {
  const { properties, required, anyOf } = shape as {
    properties?: Definitions;
    required?: string[];
    anyOf?: Definitions[];
  };
  return {
    ...shape,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).filter(([key]) => !OF_EVENTS.includes(key))),
    }),
    ...(required && { required: required.filter((key) => !OF_EVENTS.includes(key)) }),
    ...(anyOf && { anyOf: anyOf.map(withoutEvents) }),
  };
}

function referenced(value: unknown, definitions: Definitions, found = new Set<string>()): Set<string> {
  for (const [, name] of JSON.stringify(value).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)) {
    if (name === undefined || found.has(name)) continue;
    found.add(name);
    referenced(definitions[name], definitions, found);
  }
  return found;
}
